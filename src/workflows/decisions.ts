// Decisions that arrive as signals. The handler only takes them in; each is then handed to an activity that checks it, one after the
// other, at whatever point the workflow is: also a signal that comes too early, too late or from nobody is looked at. Nobody waits for
// that check: one that names the operation has the row read at once, and the first intent believes signatures in the row and nothing else.
import { defaultPayloadConverter, type RawValue } from '@temporalio/common';
import { condition, setHandler } from '@temporalio/workflow';
import type { OperationInput } from './activities.contract.ts';
import { repeatable } from './activity-options.ts';
import { approvalDecision } from './messages.ts';
import type { WakeUp } from './wake-up.ts';

/** Beyond what any quorum needs: a flood must not fill the history. */
const MOST_DECISIONS = 50;

/** A signed decision has about 1 KiB; what is larger goes nowhere from here. */
const LARGEST_BYTES = 8_192;

export interface Decisions {
  /** Hands decisions over until `close`; resolves when the last one was. */
  handOver(): Promise<void>;
  close(): void;
}

/** Registers the handler; call it first, so that nothing said early is missed. */
export function listenForDecisions(input: OperationInput, wakeUp: WakeUp): Decisions {
  const seen = new Set<string>();
  const waiting: unknown[] = [];
  let closed = false;
  setHandler(approvalDecision, (sent?: RawValue) => {
    const decision = readable(sent);
    const id = idOf(decision);
    // Signals may arrive twice (engine fact 7). What isn't handed over only has the row read again.
    const isHandedOver = !seen.has(id) && seen.size < MOST_DECISIONS;
    if (!isHandedOver || memberOf(decision, 'operation_id') === input.operation_id) wakeUp.wake();
    if (!isHandedOver) return;
    seen.add(id);
    waiting.push(decision);
  });
  return {
    close() {
      closed = true;
    },
    async handOver() {
      for (;;) {
        await condition(() => closed || waiting.length > 0);
        if (waiting.length === 0) return;
        await repeatable.receiveDecision(input, waiting.shift());
      }
    },
  };
}

/** A decision is named by its signature, whatever the order of its members; anything else by itself. */
function idOf(decision: unknown): string {
  const signature = memberOf(decision, 'signature');
  return typeof signature === 'string' ? signature : JSON.stringify(decision);
}

function memberOf(decision: unknown, name: string): unknown {
  return ((decision ?? {}) as Readonly<Record<string, unknown>>)[name];
}

/** Null for everything that can't be a decision: all of that is one thing. */
function readable(sent: RawValue | undefined): unknown {
  const { payload } = sent ?? {};
  if (!payload || (payload.data?.length ?? 0) > LARGEST_BYTES) return null;
  try {
    return defaultPayloadConverter.fromPayload<unknown>(payload) ?? null;
  } catch {
    return null;
  }
}

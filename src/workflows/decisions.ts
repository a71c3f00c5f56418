// Decisions that arrive as signals. The handler only takes them in; each is then handed to an activity that checks it, one after the
// other, at whatever point the workflow is: also a signal that comes too early, too late or from nobody is looked at.
import { defaultPayloadConverter, type RawValue } from '@temporalio/common';
import { condition, setHandler } from '@temporalio/workflow';
import { canonicalJson } from '../domain/canonical-json.ts';
import type { JsonValue } from '../domain/strict-json.ts';
import type { OperationInput } from './activities.contract.ts';
import { repeatable } from './activity-options.ts';
import { approvalDecision } from './messages.ts';
import type { WakeUp } from './wake-up.ts';

/** Beyond what any quorum needs. What comes later only has the row read again: a flood must not fill the history. */
const MOST_DECISIONS = 50;

/** A signed decision has about 1 KiB; what is larger goes nowhere from here. */
const LARGEST_BYTES = 8_192;

export interface Decisions {
  /** Hands decisions over until `close`; resolves when the last one was. Wakes the workflow where one is what it waits for. */
  handOver(): Promise<void>;
  close(): void;
}

/** Registers the handler; call it first, so that nothing said early is missed. */
export function listenForDecisions(input: OperationInput, wakeUp: WakeUp): Decisions {
  const seen = new Set<string>();
  const waiting: string[] = [];
  let closed = false;
  setHandler(approvalDecision, (sent?: RawValue) => {
    const text = textOf(sent);
    // Signals may arrive twice (engine fact 7), and in another order of members.
    if (seen.has(text)) return;
    if (seen.size >= MOST_DECISIONS) {
      wakeUp.wake();
      return;
    }
    seen.add(text);
    waiting.push(text);
  });
  return {
    close() {
      closed = true;
    },
    async handOver() {
      for (;;) {
        await condition(() => closed || waiting.length > 0);
        const text = waiting.shift();
        if (text === undefined) return;
        if (await repeatable.receiveDecision(input, JSON.parse(text))) wakeUp.wake();
      }
    },
  };
}

/** The RFC 8785 form; that of null for everything that can't be a decision: all of that is one thing. */
function textOf(sent: RawValue | undefined): string {
  const { payload } = sent ?? {};
  if (!payload || (payload.data?.length ?? 0) > LARGEST_BYTES) return 'null';
  try {
    return canonicalJson(defaultPayloadConverter.fromPayload<JsonValue>(payload));
  } catch {
    return 'null';
  }
}

// Tells the engine of a fresh claim, a decision, or that somebody wants a look, without making the caller wait for it. What doesn't get through
// stays in the outbox.
import type { SignedDecision } from '../domain/approval-decision.ts';
import type { Operation } from '../domain/operation.ts';
import type { Logger } from '../observability/logger.ts';
import { messageDelivered, startDelivered } from '../store/outbox.store.ts';
import type { Pool } from '../store/pool.ts';
import { isLasting } from '../temporal/engine-errors.ts';
import type { WorkflowStarter } from '../temporal/workflow-starter.ts';

/** More of them at once mean that the engine is slow or away; the relay takes the rest at its own pace. */
const MOST_AT_ONCE = 200;

/** An engine that didn't take a message is left in peace for so long: what comes meanwhile is the relay's, which is due after 2 s. */
const REST_MS = 250;

export interface StartSoon {
  begin(operation: Operation): void;
  /** Has the provider asked; `messageId` is the outbox message that stands for this wish. */
  look(operation: Operation, messageId: string): void;
  /** Hands a person's signed decision over; `messageId` as above. */
  decide(operation: Operation, decision: SignedDecision, messageId: string): void;
  /** Resolves when nothing is under way any more. */
  drain(): Promise<void>;
}

export function createStartSoon(pool: Pool, starter: WorkflowStarter, logger: Logger): StartSoon {
  const open = new Set<Promise<void>>();
  let restsUntil = Number.NEGATIVE_INFINITY;
  const deliver = ({ operationId }: Operation, tell: () => Promise<void>): void => {
    if (open.size >= MOST_AT_ONCE || performance.now() < restsUntil) return;
    const delivery = tell()
      .catch((error: unknown) => {
        // One message that is at fault says nothing about the engine.
        if (!isLasting(error)) restsUntil = performance.now() + REST_MS;
        logger.warn({ operation_id: operationId, error }, 'left to the relay');
      })
      .finally(() => open.delete(delivery));
    open.add(delivery);
  };
  return {
    begin(operation) {
      deliver(operation, async () => {
        await starter.start(operation);
        await startDelivered(pool, operation.operationId);
      });
    },
    look(operation, messageId) {
      deliver(operation, async () => {
        await starter.lookNow(operation);
        await messageDelivered(pool, messageId);
      });
    },
    decide(operation, decision, messageId) {
      deliver(operation, async () => {
        await starter.decide(operation, [decision]);
        await messageDelivered(pool, messageId);
      });
    },
    async drain() {
      await Promise.allSettled(open);
    },
  };
}

// Tells the engine of a fresh claim without making the caller wait for it. What doesn't get through stays in the outbox.
import type { Operation } from '../domain/operation.ts';
import type { Logger } from '../observability/logger.ts';
import { startDelivered } from '../store/outbox.store.ts';
import type { Pool } from '../store/pool.ts';
import type { WorkflowStarter } from '../temporal/workflow-starter.ts';

/** More starts than this at once mean that the engine is slow or away; the relay takes the rest at its own pace. */
const MOST_AT_ONCE = 200;

export interface StartSoon {
  begin(operation: Operation): void;
  /** Resolves when no start is under way any more. */
  drain(): Promise<void>;
}

export function createStartSoon(pool: Pool, starter: WorkflowStarter, logger: Logger): StartSoon {
  const open = new Set<Promise<void>>();
  const deliver = async (operation: Operation): Promise<void> => {
    try {
      await starter.start(operation);
      await startDelivered(pool, operation.operationId);
    } catch (error) {
      logger.warn({ operation_id: operation.operationId, error }, 'start left to the relay');
    }
  };
  return {
    begin(operation) {
      if (open.size >= MOST_AT_ONCE) return;
      const delivery = deliver(operation).finally(() => open.delete(delivery));
      open.add(delivery);
    },
    async drain() {
      await Promise.allSettled(open);
    },
  };
}

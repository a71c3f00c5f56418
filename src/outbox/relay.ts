// The relay delivers what was committed and not yet told to the engine. At least once: the receiver attaches to what already runs.
import type { Operation } from '../domain/operation.ts';
import type { Logger } from '../observability/logger.ts';
import { readFile } from '../store/operations.store.ts';
import {
  deliveryFailed,
  leaseMessages,
  messageDelivered,
  type MessageType,
  type OutboxMessage,
} from '../store/outbox.store.ts';
import type { Pool } from '../store/pool.ts';
import type { WorkflowStarter } from '../temporal/workflow-starter.ts';

/** One round's share: small enough to end within a lease, large enough to drain a backlog quickly. */
const BATCH = 50;

export interface RelayDependencies {
  readonly pool: Pool;
  readonly starter: WorkflowStarter;
  readonly logger: Logger;
}

/** Delivers due messages until none is left or one fails; answers how many were delivered. */
export async function relayOnce(deps: RelayDependencies): Promise<number> {
  const messages = await leaseMessages(deps.pool, BATCH);
  const results = await Promise.all(messages.map((message) => deliver(deps, message)));
  return results.filter(Boolean).length;
}

function tell(starter: WorkflowStarter, type: MessageType, operation: Operation): Promise<void> {
  switch (type) {
    case 'start':
      return starter.start(operation);
    case 'wake':
      return starter.wake(operation);
    case 'look':
      return starter.lookNow(operation);
  }
}

async function deliver(
  { pool, starter, logger }: RelayDependencies,
  message: OutboxMessage,
): Promise<boolean> {
  const context = { operation_id: message.operationId, deliveries: message.deliveries };
  try {
    const file = await readFile(pool, message.operationId);
    if (file) await tell(starter, message.type, file.operation);
    await messageDelivered(pool, message.messageId);
    return true;
  } catch (error) {
    logger.warn({ ...context, error }, 'not delivered yet');
    await deliveryFailed(pool, message.messageId, error instanceof Error ? error.name : 'unknown');
    return false;
  }
}

// The relay delivers what was committed and not yet told to the engine. At least once: the receiver attaches to what already runs.
import type { Operation } from '../domain/operation.ts';
import type { Logger } from '../observability/logger.ts';
import { signedDecisions } from '../store/approval-list.store.ts';
import { readFile } from '../store/operations.store.ts';
import {
  deliveryFailed,
  leaseMessages,
  messageDelivered,
  postponeMessages,
  type MessageType,
  type OutboxMessage,
} from '../store/outbox.store.ts';
import { parkMessage } from '../store/parked-messages.store.ts';
import type { Pool } from '../store/pool.ts';
import { isLasting } from '../temporal/engine-errors.ts';
import type { WorkflowStarter } from '../temporal/workflow-starter.ts';

/** Delivered at once: enough to drain thousands within a minute, few beside the API's own 200 starts, and done within a lease. */
const BATCH = 20;

/** Enough to tell what went wrong; no column grows with somebody's stack trace. */
const LONGEST_REASON = 300;

export interface RelayDependencies {
  readonly pool: Pool;
  readonly starter: WorkflowStarter;
  readonly logger: Logger;
}

interface Failure {
  readonly message: OutboxMessage;
  readonly error: unknown;
}

/** Delivers one batch of due messages; answers how many got through. */
export async function relayOnce(deps: RelayDependencies): Promise<number> {
  const messages = await leaseMessages(deps.pool, BATCH);
  const results = await Promise.all(messages.map((message) => deliver(deps, message)));
  const failures = results.filter((result) => result !== undefined);
  if (failures.length > 0) await afterFailures(deps, failures, messages.length);
  return messages.length - failures.length;
}

type Tell = (
  deps: Pick<RelayDependencies, 'pool' | 'starter'>,
  operation: Operation,
) => Promise<void>;

const TELL: Readonly<Record<MessageType, Tell>> = {
  start: ({ starter }, operation) => starter.start(operation),
  wake: ({ starter }, operation) => starter.wake(operation),
  look: ({ starter }, operation) => starter.lookNow(operation),
  // All of them each time: the run knows those that it has heard of.
  decide: async ({ pool, starter }, operation) =>
    starter.decide(operation, await signedDecisions(pool, operation.operationId)),
};

/** Undefined where it got through. */
async function deliver(
  deps: RelayDependencies,
  message: OutboxMessage,
): Promise<Failure | undefined> {
  try {
    const file = await readFile(deps.pool, message.operationId);
    // A type that only a newer version knows is no function here: parked, not taken for delivered.
    if (file) await TELL[message.type](deps, file.operation);
    await messageDelivered(deps.pool, message.messageId);
    return undefined;
  } catch (error) {
    return { message, error };
  }
}

/** Only an engine that answers can show that a message is at fault. */
async function afterFailures(
  deps: RelayDependencies,
  failures: readonly Failure[],
  tried: number,
): Promise<void> {
  const lasting = failures.filter(({ error }) => isLasting(error));
  const passing = failures.filter(({ error }) => !isLasting(error));
  await Promise.all(lasting.map((failure) => park(deps, failure)));
  const [first] = passing;
  if (!first) return;
  if (failures.length === tried && !(await deps.starter.answers())) {
    deps.logger.warn({ messages: passing.length, err: first.error }, 'the engine is away');
    const ids = passing.map(({ message }) => message.messageId);
    await postponeMessages(deps.pool, ids, reasonOf(first.error));
    return;
  }
  await Promise.all(passing.map((failure) => countFailure(deps, failure)));
}

async function park({ pool, logger }: RelayDependencies, failure: Failure): Promise<void> {
  const { message, error } = failure;
  await parkMessage(pool, message.messageId, reasonOf(error));
  logger.error({ ...contextOf(failure), err: error }, 'not deliverable: set aside for a person');
}

async function countFailure({ pool, logger }: RelayDependencies, failure: Failure): Promise<void> {
  const { message, error } = failure;
  const parked = await deliveryFailed(pool, message.messageId, reasonOf(error));
  const context = { ...contextOf(failure), err: error };
  if (parked) logger.error(context, 'failed too often: set aside for a person');
  else logger.warn(context, 'not delivered yet');
}

function contextOf({ message }: Failure) {
  const { messageId, operationId, type, deliveries } = message;
  return { message_id: messageId, operation_id: operationId, type, deliveries };
}

/** The client's own sentence is always the same; what the engine said stands in its cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
  const reasons = cause === undefined ? [error] : [error, cause];
  return reasons.map(String).join(': ').slice(0, LONGEST_REASON);
}

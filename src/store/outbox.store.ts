// Messages that must reach the engine. A message is deleted once delivered; until then every relay may try, one at a time.
import { inBatches } from './in-batches.ts';
import type { Pool, Queryable } from './pool.ts';

/** `start`: run the operation. `wake`: its row changed. `look`: ask the provider now. `decide`: people have decided about it. */
export type MessageType = 'start' | 'wake' | 'look' | 'decide';

export interface OutboxMessage {
  readonly messageId: string;
  readonly type: MessageType;
  readonly operationId: string;
  readonly deliveries: number;
}

/**
 * Longer than a delivery can take: a statement (10 s), the engine's deadline (5 s), a statement. A relay that dies holds its messages
 * back no longer than this.
 */
const LEASE = '30 seconds';

/** Failed this often although the engine answered, which takes about an hour: a person has to look at it. */
export const MOST_FAILURES = 20;

/** Leases at most `limit` due messages: nobody else gets one before the lease ends, unless it is given back earlier. */
export async function leaseMessages(pool: Pool, limit: number): Promise<OutboxMessage[]> {
  const { rows } = await pool.query(
    `update outbox_messages m
     set deliveries = m.deliveries + 1, next_delivery_at = holdfast_now() + interval '${LEASE}'
     where m.message_id in (
       select message_id from outbox_messages
       where parked_at is null and next_delivery_at <= holdfast_now()
       order by next_delivery_at limit $1 for update skip locked)
     returning m.message_id, m.operation_id, m.type, m.deliveries`,
    [limit],
  );
  return rows.map((row) => ({
    messageId: row.message_id,
    operationId: row.operation_id,
    type: row.type,
    deliveries: row.deliveries,
  }));
}

/** Adds a message that is due at once; part of the transaction of what it tells of. */
export async function enqueue(
  db: Queryable,
  operationId: string,
  type: MessageType,
): Promise<void> {
  await insertMessage(db, operationId, type, '0 seconds');
}

/** A process that writes such a message delivers it at once itself; the relay takes over when that hasn't happened after this long. */
const RELAY_GRACE = '2 seconds';

/** The same for what the caller is about to deliver; answers the message's id. */
export async function enqueueForCaller(
  db: Queryable,
  operationId: string,
  type: MessageType,
): Promise<string> {
  return insertMessage(db, operationId, type, RELAY_GRACE);
}

async function insertMessage(
  db: Queryable,
  operationId: string,
  type: MessageType,
  dueIn: string,
): Promise<string> {
  const { rows } = await db.query<{ message_id: string }>(
    `insert into outbox_messages (operation_id, type, next_delivery_at)
     values ($1, $2, holdfast_now() + $3::interval) returning message_id`,
    [operationId, type, dueIn],
  );
  if (!rows[0]) throw new Error('a message was not inserted');
  return rows[0].message_id;
}

/** The engine has been told. */
export async function messageDelivered(db: Queryable, messageId: string): Promise<void> {
  await db.query('delete from outbox_messages where message_id = $1', [messageId]);
}

/** The engine has been told to run this operation, by whoever claimed it. */
export function startDelivered(pool: Pool, operationId: string): Promise<void> {
  return startsDelivered(pool, operationId);
}

const startsDelivered = inBatches(async (pool: Pool, operationIds: readonly string[]) => {
  await pool.query(`delete from outbox_messages where operation_id = any ($1) and type = 'start'`, [
    operationIds,
  ]);
  return operationIds.map(() => undefined);
});

/**
 * Counts a failure, keeps its reason, and lets the message come back after a pause (1 s doubling to 5 min); after the last one it is
 * parked. True where it is.
 */
export async function deliveryFailed(
  db: Queryable,
  messageId: string,
  reason: string,
): Promise<boolean> {
  const { rows } = await db.query<{ parked: boolean }>(
    `update outbox_messages
     set failures = failures + 1, last_error = $2,
         next_delivery_at = holdfast_now()
           + least(interval '1 second' * power(2, least(failures, 12)), interval '5 minutes'),
         parked_at = case when failures + 1 >= $3 then holdfast_now() end
     where message_id = $1 returning parked_at is not null as parked`,
    [messageId, reason, MOST_FAILURES],
  );
  return rows[0]?.parked === true;
}

/** Long enough not to hammer an engine that is away, short enough that nobody waits once it is back. */
const POSTPONED_FOR = '2 seconds';

/** Gives leases back without counting a failure: the engine is away, which says nothing about the messages. */
export async function postponeMessages(
  db: Queryable,
  messageIds: readonly string[],
  reason: string,
): Promise<void> {
  await db.query(
    `update outbox_messages
     set next_delivery_at = holdfast_now() + interval '${POSTPONED_FOR}', last_error = $2
     where message_id = any ($1)`,
    [messageIds, reason],
  );
}

// Messages that must reach the engine. A message is deleted once delivered; until then every relay may try, one at a time.
import type { Pool, Queryable } from './pool.ts';

/** `start`: run the operation. `wake`: its row changed. `look`: ask the provider now. */
export type MessageType = 'start' | 'wake' | 'look';

export interface OutboxMessage {
  readonly messageId: string;
  readonly type: MessageType;
  readonly operationId: string;
  readonly deliveries: number;
}

/** Leases at most `limit` due messages: each comes back after a growing pause (1 s doubling to 5 min) unless it is deleted. */
export async function leaseMessages(pool: Pool, limit: number): Promise<OutboxMessage[]> {
  const { rows } = await pool.query(
    `update outbox_messages m
     set deliveries = m.deliveries + 1,
         next_delivery_at = holdfast_now() + least(interval '1 second' * power(2, least(m.deliveries, 12)), interval '5 minutes')
     where m.message_id in (
       select message_id from outbox_messages where next_delivery_at <= holdfast_now()
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
  await db.query(
    `insert into outbox_messages (operation_id, type, next_delivery_at)
     values ($1, $2, holdfast_now())`,
    [operationId, type],
  );
}

/** The engine has been told. */
export async function messageDelivered(db: Queryable, messageId: string): Promise<void> {
  await db.query('delete from outbox_messages where message_id = $1', [messageId]);
}

/** The engine has been told to run this operation, by whoever claimed it. */
export async function startDelivered(db: Queryable, operationId: string): Promise<void> {
  await db.query(`delete from outbox_messages where operation_id = $1 and type = 'start'`, [
    operationId,
  ]);
}

/** Keeps the last reason for whoever looks; the lease already says when it is tried again. */
export async function deliveryFailed(
  db: Queryable,
  messageId: string,
  reason: string,
): Promise<void> {
  await db.query('update outbox_messages set last_error = $2 where message_id = $1', [
    messageId,
    reason,
  ]);
}

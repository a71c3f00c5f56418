// Messages that must reach the engine. A message is deleted once delivered; until then every relay may try, one at a time.
import type { Pool, Queryable } from './pool.ts';

export interface OutboxMessage {
  readonly messageId: string;
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
     returning m.message_id, m.operation_id, m.deliveries`,
    [limit],
  );
  return rows.map((row) => ({
    messageId: row.message_id,
    operationId: row.operation_id,
    deliveries: row.deliveries,
  }));
}

/** The engine has been told to run this operation. */
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

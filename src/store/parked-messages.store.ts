// Messages that are set aside: they can't be delivered as they are, and a person decides what becomes of them. Nothing is lost
// meanwhile: the sweep starts what is unsettled from its row.
import type { MessageType } from './outbox.store.ts';
import type { Queryable } from './pool.ts';

export interface ParkedMessage {
  readonly messageId: string;
  readonly operationId: string;
  readonly type: MessageType;
  readonly failures: number;
  readonly lastError: string;
  readonly enqueuedAt: string;
  readonly parkedAt: string;
}

/** Sets a message aside at once: delivering it again can't help. */
export async function parkMessage(db: Queryable, messageId: string, reason: string): Promise<void> {
  await db.query(
    `update outbox_messages
     set failures = failures + 1, last_error = $2, parked_at = holdfast_now()
     where message_id = $1`,
    [messageId, reason],
  );
}

/** The oldest `limit` parked messages. */
export async function parkedMessages(db: Queryable, limit: number): Promise<ParkedMessage[]> {
  const { rows } = await db.query(
    `select * from outbox_messages where parked_at is not null order by parked_at, message_id limit $1`,
    [limit],
  );
  return rows.map((row) => ({
    messageId: row.message_id,
    operationId: row.operation_id,
    type: row.type,
    failures: row.failures,
    lastError: row.last_error,
    enqueuedAt: row.enqueued_at,
    parkedAt: row.parked_at,
  }));
}

/** Brings parked messages back, of one operation or all, due at once and with a clean count. Answers how many. */
export async function unparkMessages(db: Queryable, operationId?: string): Promise<number> {
  const { rowCount } = await db.query(
    `update outbox_messages
     set parked_at = null, failures = 0, next_delivery_at = holdfast_now()
     where parked_at is not null and ($1::text is null or operation_id = $1)`,
    [operationId ?? null],
  );
  return rowCount ?? 0;
}

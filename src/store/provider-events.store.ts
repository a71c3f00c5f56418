// Applying what a provider told by itself: find whose object it is, write it down, and move the operation where that decides something.
import type { OperationFile } from '../domain/operation.ts';
import { changeByEvent, type ProviderEvent } from '../domain/provider-event.ts';
import { appendAudit, auditOf } from './audit.store.ts';
import { recordEvidence } from './evidence.store.ts';
import { lockFile, type LockedFile } from './operations.store.ts';
import { enqueue } from './outbox.store.ts';
import type { Pool, Queryable } from './pool.ts';
import { inTransaction } from './transaction.ts';
import { moveOperation } from './transitions.store.ts';

export type EventResult =
  /** No operation of this connection has this token or reference. */
  | { readonly status: 'unknown_object' }
  /** This object was already told to be in this state. */
  | { readonly status: 'duplicate'; readonly file: OperationFile }
  | { readonly status: 'recorded'; readonly file: OperationFile };

/** Applies an event once per object and state. `matches` compares the object with the bytes that were sent. */
export async function applyProviderEvent(
  pool: Pool,
  connection: string,
  event: ProviderEvent,
  matches: (file: OperationFile) => boolean,
): Promise<EventResult> {
  const operationId = await findByObject(pool, connection, event);
  if (operationId === undefined) return { status: 'unknown_object' };
  return inTransaction(pool, async (db) => {
    const file = await lockFile(db, operationId);
    if (!file) return { status: 'unknown_object' };
    if (!(await isFirst(db, connection, file, event))) return { status: 'duplicate', file };
    return { status: 'recorded', file: await applyTo(db, file, event, matches(file)) };
  });
}

/** Tokens are fixed at the claim, so an event can't be earlier than what it is found by. */
async function findByObject(
  pool: Pool,
  connection: string,
  { token, reference }: ProviderEvent,
): Promise<string | undefined> {
  const { rows } = await pool.query<{ operation_id: string }>(
    `select operation_id from operations
     where connection = $1 and (provider_token = $2 or provider_reference = $3)
     order by (provider_token = $2) desc limit 1`,
    [connection, token, reference],
  );
  return rows[0]?.operation_id;
}

/** Event ids are no help: some senders give each emission a new one. */
async function isFirst(
  db: Queryable,
  connection: string,
  { operation, now }: LockedFile,
  { reference, state, ofEarlierAttempt, happenedAt, eventId }: ProviderEvent,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into provider_events (connection, reference, state, of_earlier_attempt, event_id,
       operation_id, happened_at, received_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
    [
      connection,
      reference,
      state,
      ofEarlierAttempt,
      eventId,
      operation.operationId,
      happenedAt,
      now,
    ],
  );
  return rowCount === 1;
}

async function applyTo(
  db: Queryable,
  file: LockedFile,
  event: ProviderEvent,
  matches: boolean,
): Promise<OperationFile> {
  const { operation, attempts, now } = file;
  const { state, reference, happenedAt, ofEarlierAttempt, eventId } = event;
  const detail = { event_id: eventId, state, reference, happened_at: happenedAt, matches };
  await recordEvidence(db, {
    operationId: operation.operationId,
    type: 'event',
    verdict: state,
    detail: { ...detail, of_earlier_attempt: ofEarlierAttempt },
    at: now,
  });
  const events = [
    {
      ...auditOf(operation, 'provider_answer' as const, now),
      providerReference: reference,
      detail: { event: state },
    },
  ];
  const change = changeByEvent(operation, attempts, event, matches);
  if (!change) {
    await appendAudit(db, events);
    return file;
  }
  await enqueue(db, operation.operationId, 'wake');
  return (await moveOperation(db, file, now, change, { events })) ?? file;
}

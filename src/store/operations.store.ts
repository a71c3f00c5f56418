// Reading operations. Changes are made in claims.store (birth), attempts.store (intents, answers) and transitions.store (states).
import type { OperationFile, Operation } from '../domain/operation.ts';
import {
  approvalFromRow,
  attemptFromRow,
  operationFromRow,
  timeInJson as time,
} from './operation-rows.ts';
import { inBatches } from './in-batches.ts';
import type { Pool, Queryable } from './pool.ts';
import { IDS, run, type Prepared } from './prepared.ts';

/** An operation under a row lock, with the database clock's time of the reading. */
export interface LockedFile extends OperationFile {
  readonly now: string;
}

/** What a key stands for. An alias names an operation that was claimed under another key and has its own fingerprint. */
export interface KnownKey {
  readonly operation: Operation;
  readonly fingerprint: string;
  readonly kindVersion: number;
  readonly isAlias: boolean;
}

/** What a key stands for; uses the primary key of the register. */
export async function findByKey(
  db: Queryable,
  accountId: string,
  key: string,
): Promise<KnownKey | undefined> {
  const { rows } = await db.query(
    `select ${KNOWN_KEY} where k.account_id = $1 and k.idempotency_key = $2`,
    [accountId, key],
  );
  return rows[0] && knownKeyFromRow(rows[0], key);
}

/** Columns and tables of a known key, for statements that look it up with something else. */
export const KNOWN_KEY = `o.*, k.fingerprint as key_fingerprint, k.kind_version as key_kind_version
  from idempotency_keys k join operations o using (operation_id)`;

/** The row of `KNOWN_KEY` as the key that was asked for. */
export function knownKeyFromRow(row: Record<string, unknown>, key: string): KnownKey {
  const operation = operationFromRow(row);
  return {
    operation,
    fingerprint: row['key_fingerprint'] as string,
    kindVersion: row['key_kind_version'] as number,
    isAlias: operation.idempotencyKey !== key,
  };
}

const attachmentsOf = (id: string): string => `(select coalesce(json_agg(a order by a.number), '[]')
    from attempts a where a.operation_id = ${id}) as attempts,
  (select to_json(p) from approvals p
    where p.operation_id = ${id} order by p.round desc limit 1) as approval`;

/**
 * The limit keeps a plan that was made while the tables were small from reading all of them for a few ids. The ids are `$1` as JSON, see
 * `IDS`.
 */
const FILES: Prepared = {
  name: 'files',
  text: `select o.*, ${attachmentsOf('o.operation_id')}
     from ${IDS} cross join lateral
       (select * from operations where operation_id = q.id limit 1) o`,
};
const LOCK: Prepared = {
  name: 'lock',
  text: 'select *, holdfast_now() as now from operations where operation_id = $1 for update',
};
const ATTACHMENTS: Prepared = { name: 'attachments', text: `select ${attachmentsOf('$1')}` };

/** The operation with this id, its attempts and its latest approval, as of one moment. */
export const readFile: (pool: Pool, operationId: string) => Promise<OperationFile | undefined> =
  inBatches(readFiles);

/** The same of several operations, in their order; inside a transaction it sees what that has done. */
export async function readFiles(
  db: Queryable,
  operationIds: readonly string[],
): Promise<(OperationFile | undefined)[]> {
  const { rows } = await run(db, FILES, [JSON.stringify(operationIds)]);
  const files = new Map(rows.map((row) => [row.operation_id, fileFromRow(row)]));
  return operationIds.map((id) => files.get(id));
}

const fileFromRow = (row: Record<string, unknown> & AttachmentsRow): OperationFile => ({
  operation: operationFromRow(row),
  ...attachmentsFromRow(row),
});

/**
 * The same under a row lock, inside a transaction: nobody else changes the operation until it ends. Two statements, because one that
 * waited for the lock would still see the attempts as they were before the wait.
 */
export async function lockFile(
  db: Queryable,
  operationId: string,
): Promise<LockedFile | undefined> {
  const locked = await run(db, LOCK, [operationId]);
  const [row] = locked.rows;
  if (!row) return undefined;
  const { rows } = await run(db, ATTACHMENTS, [operationId]);
  return { operation: operationFromRow(row), now: row.now, ...attachmentsFromRow(rows[0]) };
}

export interface AttachmentsRow {
  readonly attempts: readonly Record<string, unknown>[];
  readonly approval: Record<string, unknown> | null;
}

/** Attempts and approval of a row that carries them as JSON. */
export function attachmentsFromRow(
  row: AttachmentsRow,
): Pick<OperationFile, 'attempts' | 'approval'> {
  const attempts = row.attempts.map((one) => ({
    ...one,
    started_at: time(one['started_at']),
    ended_at: time(one['ended_at']),
  }));
  const { approval } = row;
  return {
    attempts: attempts.map(attemptFromRow),
    approval:
      approval && approvalFromRow({ ...approval, expires_at: time(approval['expires_at']) }),
  };
}

/** States of several operations in one statement: one reader serves all waiting requests. */
export async function readStates(
  pool: Pool,
  operationIds: readonly string[],
): Promise<Map<string, Operation['status']>> {
  const { rows } = await pool.query<{ operation_id: string; status: Operation['status'] }>(
    'select operation_id, status from operations where operation_id = any ($1)',
    [operationIds],
  );
  return new Map(rows.map((row) => [row.operation_id, row.status]));
}

/** Kind versions that rows name: each must stay registered as long as its rows exist. */
export async function kindVersionsInUse(
  db: Queryable,
): Promise<{ kind: string; version: number }[]> {
  const { rows } = await db.query<{ kind: string; version: number }>(
    'select distinct kind, kind_version as version from operations',
  );
  return rows;
}

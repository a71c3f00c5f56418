// Taking what is personal out of every table that has it, in one transaction: by age, or at once because an operator says so.
import { isSettled } from '../domain/operation-state.ts';
import type { OperationFile } from '../domain/operation.ts';
import {
  isErased,
  reduceFile,
  type PersonalMembersOf,
  type Removal,
} from '../domain/personal-data.ts';
import type { Refusal } from '../domain/resolution.ts';
import { sha256Hex } from '../domain/sha256.ts';
import { appendAudit, auditOf, type AuditEvent } from './audit.store.ts';
import { lockFile, type LockedFile } from './operations.store.ts';
import type { Decider } from './person-statements.store.ts';
import type { Pool, Queryable } from './pool.ts';
import { inTransaction } from './transaction.ts';

/** SQL condition over `operations`, as in the index `operations_to_reduce`: it may hold words that nobody took yet. */
const HOLDS_WORDS = `words_at is not null and coalesce(greatest(expired_at, erased_at) < words_at, true)`;
/** With the retention in milliseconds as first parameter. The clock is read once: as a bound of the index, not row by row. */
export const DUE_TO_EXPIRE = `${HOLDS_WORDS}
  and words_at <= (select holdfast_now() - $1::float8 * interval '1 millisecond')`;

/** At most `limit` operations whose words are older than the retention, the oldest first. Nothing is locked yet. */
export async function dueToExpire(
  pool: Pool,
  retentionMs: number,
  limit: number,
): Promise<string[]> {
  const { rows } = await pool.query<{ operation_id: string }>(
    `select operation_id from operations where ${DUE_TO_EXPIRE} order by words_at limit $2`,
    [retentionMs, limit],
  );
  return rows.map((row) => row.operation_id);
}

/** Takes what is personal from an operation if it is still due; false where it isn't, or where somebody works on it now. */
export async function expireIfDue(
  pool: Pool,
  operationId: string,
  retentionMs: number,
  personalOf: PersonalMembersOf,
): Promise<boolean> {
  return inTransaction(pool, async (db) => {
    const { rowCount } = await db.query(
      `select 1 from operations where ${DUE_TO_EXPIRE} and operation_id = $2 for update skip locked`,
      [retentionMs, operationId],
    );
    const file = rowCount === 1 && (await lockFile(db, operationId));
    if (!file) return false;
    await removeFrom(db, file, personalOf, 'expired', { principalId: null });
    return true;
  });
}

export interface EraseRequest {
  readonly operationId: string;
  readonly by: Decider;
  readonly personalOf: PersonalMembersOf;
}

export type EraseResult =
  | { readonly status: 'not_found' }
  | { readonly status: 'refused'; readonly refusal: Refusal; readonly file: OperationFile }
  /** Also where it had been erased before: then nothing was written. */
  | { readonly status: 'erased'; readonly file: OperationFile };

/** Takes what is personal from a settled operation at once. */
export async function eraseOperation(
  pool: Pool,
  { operationId, by, personalOf }: EraseRequest,
): Promise<EraseResult> {
  return inTransaction(pool, async (db) => {
    const file = await lockFile(db, operationId);
    if (file?.operation.accountId !== by.accountId) return { status: 'not_found' };
    if (!isSettled(file.operation.status)) return { status: 'refused', refusal: NOT_SETTLED, file };
    if (isErased(file.operation)) return { status: 'erased', file };
    const who = { principalId: by.principalId, route: '/operator/operations/{id}/erase' };
    return { status: 'erased', file: await removeFrom(db, file, personalOf, 'erased', who) };
  });
}

const NOT_SETTLED: Refusal = {
  code: 'wrong_state',
  detail: 'Only a settled operation is erased: an open one still needs its command.',
};

/** The closed list of audit types has no better one: both say what a person, or a rule that people set, decided about the record. */
async function removeFrom(
  db: Queryable,
  file: LockedFile,
  personalOf: PersonalMembersOf,
  removal: Removal,
  who: Pick<AuditEvent, 'principalId' | 'route'>,
): Promise<OperationFile> {
  const { kind, kindVersion } = file.operation;
  const personal = personalOf(kind, kindVersion);
  const reduced = reduceFile(file, personal, removal, file.now);
  await writeReduced(db, reduced);
  await removeBeside(db, reduced, personal);
  const { responseBody } = reduced.operation;
  await appendAudit(db, [
    {
      ...auditOf(reduced.operation, 'resolved', file.now),
      agentRun: null,
      ...who,
      // The new bytes: from now on repeats are answered with these.
      responseSha256: sha256Hex(responseBody ?? ''),
      detail: { step: removal },
    },
  ]);
  return reduced;
}

async function writeReduced(db: Queryable, { operation: o }: OperationFile): Promise<void> {
  await db.query(
    `update operations set version = $2, command = $3, result = $4, error = $5, last_error = $6,
       response_body = $7, expired_at = $8, erased_at = $9
     where operation_id = $1`,
    [
      o.operationId,
      o.version,
      o.command,
      o.result,
      o.error,
      o.lastError,
      o.responseBody,
      o.expiredAt,
      o.erasedAt,
    ],
  );
}

/** Members of evidence that decide something or link something. An allow-list, so that what is added later goes unless it is named. */
const EVIDENCE_KEPT =
  `reference references result match state reason matches event_id happened_at of_earlier_attempt
   principal_id step provider_reference`.split(/\s+/);

/** What providers and people said, the bytes that were sent, and comments of approvers. */
const REMOVE_BESIDE = `
with sent as (
  update attempts a set request_body = null, error = r.error
  from jsonb_to_recordset($2) as r (number integer, error jsonb)
  where a.operation_id = $1 and a.number = r.number),
said as (
  update evidence set detail = (
    select coalesce(jsonb_object_agg(m.name, case m.name
      when 'result' then m.value - $4::text[] else m.value end), '{}')
    from jsonb_each(detail) as m (name, value) where m.name = any ($3))
  where operation_id = $1)
update approval_votes v set comment = null
from approvals a where a.operation_id = $1 and v.approval_id = a.approval_id`;

async function removeBeside(
  db: Queryable,
  { operation, attempts }: OperationFile,
  personal: readonly string[],
): Promise<void> {
  const errors = attempts.map(({ number, error }) => ({ number, error }));
  const values = [operation.operationId, JSON.stringify(errors), EVIDENCE_KEPT, personal];
  await db.query(REMOVE_BESIDE, values);
}

// Intents and their answers. The intent is committed before anything is sent; its number is the fencing token: it is sent at most once.
import type { AttemptOutcome, OperationFile } from '../domain/operation.ts';
import { mayMove } from '../domain/operation-state.ts';
import type { WriteOutcome } from '../domain/outcome.ts';
import { changeByAttempt, changeByLostGrant } from '../domain/settlement.ts';
import { answerEvents, answerOf, patchBy, problemOf, withOutcome } from './answers.ts';
import { appendAudit, auditOf } from './audit.store.ts';
import { EVIDENCE_INSERT, evidenceValues, recordEvidence } from './evidence.store.ts';
import {
  checkBeforeFirstIntent,
  consumeApproval,
  type FirstIntentChecks,
  type Hindrance,
} from './first-intent.store.ts';
import { IS_GRANTED } from './grants.store.ts';
import { IS_HELD } from './holds.store.ts';
import { lockFile, type LockedFile } from './operations.store.ts';
import type { Pool, Queryable } from './pool.ts';
import { beginPlainly, endPlainly, type Intent } from './plain-path.store.ts';
import { run, type Prepared } from './prepared.ts';
import { inTransaction } from './transaction.ts';
import { moveOperation, patchOperation, type Patch } from './transitions.store.ts';

/**
 * Commits an intent for the operation as it was read. Undefined where the operation has changed since, or the number is taken: then
 * somebody else sends, and the caller must not. `held` where an operator holds new intents back; `ended` where what was found ended the
 * operation; the other hindrances are those of a first intent, for which `checks` are needed.
 */
export async function commitIntent(
  pool: Pool,
  read: OperationFile,
  intent: Intent,
  checks: FirstIntentChecks,
): Promise<OperationFile | 'held' | Exclude<Hindrance, 'again'> | undefined> {
  const begun = await beginPlainly(pool, read, intent, checks);
  if (begun) return begun;
  return inTransaction(pool, async (db) => {
    const locked = await lockUnchanged(db, read);
    // A token that the provider may have forgotten would make a second effect.
    const tooLate = intent.purpose === 'resend' && !locked?.resendable;
    // Canceled or settled by the time it was read: there is nothing to begin.
    const mayBegin = read.attempts.length > 0 || mayMove(read.operation.status, 'IN_PROGRESS');
    if (!locked || tooLate || !mayBegin) return undefined;
    if (locked.held) return 'held';
    if (!locked.granted) {
      await moveOperation(db, read, locked.now, changeByLostGrant(read));
      return 'ended';
    }
    const hindrance = await checkBeforeFirstIntent(db, { ...read, now: locked.now }, checks);
    if (hindrance === 'again') return undefined;
    return hindrance ?? beginAttempt(db, read, locked.now, intent);
  });
}

const LOCK_UNCHANGED: Prepared = {
  name: 'lock_unchanged',
  text: `select holdfast_now() as now, ${IS_GRANTED} as granted, ${IS_HELD} as held,
       coalesce(o.safe_resend_until > holdfast_now(), false) as resendable
     from operations o where operation_id = $1 and version = $2 for update of o`,
};

interface LockedRow {
  readonly now: string;
  readonly granted: boolean;
  readonly held: boolean;
  readonly resendable: boolean;
}

/** Locks the operation if nobody has changed it since it was read, and asks once more whether its submitter may do this. */
async function lockUnchanged(
  db: Queryable,
  { operation }: OperationFile,
): Promise<LockedRow | undefined> {
  const { rows } = await run(db, LOCK_UNCHANGED, [operation.operationId, operation.version]);
  return rows[0] as LockedRow | undefined;
}

const BEGIN_ATTEMPT: Prepared = {
  name: 'begin_attempt',
  text: `insert into attempts (operation_id, number, purpose, request_body, started_at, worker)
     values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
};

async function beginAttempt(
  db: Queryable,
  read: OperationFile,
  now: string,
  intent: Intent,
): Promise<OperationFile | undefined> {
  const { rowCount } = await run(db, BEGIN_ATTEMPT, [
    read.operation.operationId,
    intent.number,
    intent.purpose,
    intent.requestBody,
    now,
    intent.worker,
  ]);
  if (rowCount === 0) return undefined;
  const open = { startedAt: now, endedAt: null, outcome: null, error: null };
  const file = { ...read, attempts: [...read.attempts, { ...intent, ...open }] };
  const detail = { attempt: intent.number, purpose: intent.purpose };
  const events = [{ ...auditOf(file.operation, 'intent', now), detail }];
  const patch = resendLimit(file, now);
  if (read.attempts.length === 0) {
    await consumeApproval(db, read, now);
    return moveOperation(db, file, now, { to: 'IN_PROGRESS' }, { patch, events });
  }
  return patchOperation(db, file, now, patch, events);
}

/** The provider remembers the token from its first use, so the window for resends is fixed by the first intent. */
function resendLimit({ operation }: OperationFile, now: string): Patch {
  if (operation.safeResendUntil) return {};
  const until = new Date(Date.parse(now) + operation.plan.resend_window_ms);
  return { safeResendUntil: until.toISOString() };
}

/**
 * Writes down what an attempt of the operation came to, as the intent left it or as it is by its id, and moves the operation where that decides something. The same answer twice is stored once; one
 * that says more overtakes one that said less; one that says less, or the contrary, is evidence. Answers the file as it stands
 * afterwards.
 */
export async function storeAttemptOutcome(
  pool: Pool,
  of: OperationFile | string,
  number: number,
  outcome: WriteOutcome,
): Promise<OperationFile> {
  const ended = typeof of === 'string' ? undefined : await endPlainly(pool, of, number, outcome);
  if (ended) return ended;
  const operationId = typeof of === 'string' ? of : of.operation.operationId;
  return inTransaction(pool, async (db) => {
    const file = await lockFile(db, operationId);
    const attempt = file?.attempts.find((one) => one.number === number);
    if (!file || !attempt) throw new Error(`no attempt ${number} of ${operationId}`);
    if (attempt.outcome === outcome.status) return file;
    if (!saysMore(outcome.status, attempt.outcome)) return addEvidence(db, file, number, outcome);
    await endAttempt(db, file, number, outcome);
    return moveByAnswer(db, withOutcome(file, number, outcome), number, outcome);
  });
}

const STRENGTH = { unknown: 1, pending: 2, not_sent: 3, failed: 3, succeeded: 3 } as const;

function saysMore(status: WriteOutcome['status'], known: AttemptOutcome): boolean {
  return known === null || STRENGTH[status] > STRENGTH[known];
}

/** An answer beside the one that the attempt has: only what is definite can still move the operation. */
async function addEvidence(
  db: Queryable,
  file: LockedFile,
  number: number,
  outcome: WriteOutcome,
): Promise<OperationFile> {
  await recordEvidence(db, answerOf(file, number, outcome));
  const definite = outcome.status === 'succeeded' || outcome.status === 'failed';
  if (definite) return moveByAnswer(db, file, number, outcome);
  await appendAudit(db, answerEvents(file, number, outcome));
  return file;
}

const END_ATTEMPT: Prepared = {
  name: 'end_attempt',
  text: `with ${EVIDENCE_INSERT}
     update attempts set outcome = $4, error = $7, ended_at = $6
     where operation_id = $1 and number = $3`,
};

async function endAttempt(
  db: Queryable,
  file: LockedFile,
  number: number,
  outcome: WriteOutcome,
): Promise<void> {
  const answer = evidenceValues(answerOf(file, number, outcome));
  await run(db, END_ATTEMPT, [...answer, problemOf(outcome)]);
}

async function moveByAnswer(
  db: Queryable,
  file: LockedFile,
  number: number,
  outcome: WriteOutcome,
): Promise<OperationFile> {
  const change = changeByAttempt(file.operation, file.attempts, number, outcome);
  const patch = patchBy(outcome);
  const events = answerEvents(file, number, outcome);
  if (change) return (await moveOperation(db, file, file.now, change, { patch, events })) ?? file;
  // Evidence alone never touches stored bytes: a settled operation stays as it was told.
  if (file.operation.responseBody === null) {
    return (await patchOperation(db, file, file.now, patch, events)) ?? file;
  }
  await appendAudit(db, events);
  return file;
}

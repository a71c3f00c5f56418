// The two writes of an operation that nothing gets in the way of, each as one statement: all of it where the row is as it was read, and nothing
// otherwise. Where nothing was written the long way is gone (`attempts.store.ts`), which locks, looks, and says why. It alone would do;
// but most operations are plain, and round trips are most of what they cost.
import { judgeFirstIntent } from '../domain/first-intent.ts';
import type { Attempt, Operation, OperationFile } from '../domain/operation.ts';
import { releasesClaims } from '../domain/operation-state.ts';
import type { WriteOutcome } from '../domain/outcome.ts';
import { changeByAttempt } from '../domain/settlement.ts';
import { answerEvents, answerOf, patchBy, problemOf, withOutcome } from './answers.ts';
import { auditInsert, auditOf, auditRows } from './audit.store.ts';
import type { FirstIntentChecks } from './first-intent.store.ts';
import { IS_GRANTED } from './grants.store.ts';
import { IS_HELD } from './holds.store.ts';
import { inBatches } from './in-batches.ts';
import type { Pool } from './pool.ts';
import { run, type Prepared } from './prepared.ts';
import {
  prepareMove,
  transitionEvent,
  WRITE_PARAMETERS,
  writeIf,
  writeValues,
} from './transitions.store.ts';

/** What an attempt is before it is made. */
export interface Intent {
  readonly number: number;
  readonly purpose: Attempt['purpose'];
  readonly requestBody: string;
  readonly worker: string;
}

const BEGIN: Prepared = {
  name: 'begin_plainly',
  text: `with clock as (select holdfast_now() as now),
     open as materialized (
       select o.operation_id from operations o
       where o.operation_id = $1 and o.version = $2 and o.status = 'PENDING' and ${IS_GRANTED} and not ${IS_HELD}
       for update),
     begun as (
       insert into attempts (operation_id, number, purpose, request_body, started_at, worker)
       select operation_id, $3, $4, $5, now, $6 from open, clock
       on conflict do nothing returning operation_id, started_at),
     written as (
       update operations o set status = 'IN_PROGRESS', version = version + 1, updated_at = started_at,
         safe_resend_until = started_at + $7::float8 * interval '1 millisecond'
       from begun where o.operation_id = begun.operation_id
       returning o.updated_at, o.safe_resend_until),
     told as (${auditInsert('$8', 'written')})
     select updated_at, safe_resend_until from written`,
};

/**
 * Commits the first intent of an operation that nobody had to be asked about. Undefined where nothing was written: it is another kind of
 * operation, somebody changed it or holds it, or its submitter may no longer have it done.
 */
export async function beginPlainly(
  pool: Pool,
  read: OperationFile,
  intent: Intent,
  checks: FirstIntentChecks,
): Promise<OperationFile | undefined> {
  const before = read.operation;
  if (!isPlain(before, checks)) return undefined;
  const { number, purpose, requestBody, worker } = intent;
  const { rows } = await run(pool, BEGIN, [
    before.operationId,
    before.version,
    number,
    purpose,
    requestBody,
    worker,
    before.plan.resend_window_ms,
    auditRows(intentEvents(before, intent)),
  ]);
  if (!rows[0]) return undefined;
  const { updated_at: now, safe_resend_until: safeResendUntil } = rows[0];
  const after = { ...before, ...BEGUN, version: before.version + 1, updatedAt: now };
  const attempt = { ...intent, startedAt: now, endedAt: null, outcome: null, error: null };
  return { ...read, operation: { ...after, safeResendUntil }, attempts: [attempt] };
}

const BEGUN = { status: 'IN_PROGRESS' } as const;

/** A first intent comes with a reading. The rules are those of the long way; with nothing read of people and targets there is only the policy to ask. */
function isPlain({ status, plan }: Operation, { reading }: FirstIntentChecks): boolean {
  if (!reading || reading.preconditions || status !== 'PENDING' || plan.awaits_approval) {
    return false;
  }
  const { verdict, preconditions } = reading;
  const findings = { verdict, approval: undefined, approversGone: [], preconditions };
  return judgeFirstIntent(findings).step === 'send';
}

/** Their time is the statement's. */
function intentEvents(before: Operation, { number, purpose }: Intent) {
  const detail = { attempt: number, purpose };
  return [
    { ...auditOf(before, 'intent', before.updatedAt), detail },
    transitionEvent(before, { ...before, ...BEGUN }),
  ];
}

const [NUMBER, OUTCOME, PROBLEM, ENDED_AT, DETAIL] = [1, 2, 3, 4, 5].map(
  (n) => `$${WRITE_PARAMETERS + n}`,
);

/** `ended` names its attempt by the parameter: joined to `open` alone, a plan from an empty register reads all attempts. */
const END: Prepared = {
  name: 'end_plainly',
  text: `with open as materialized (
       select operation_id from operations where operation_id = $1 and status = $2 and version = $3 for update),
     ended as (
       update attempts a set outcome = ${OUTCOME}, error = ${PROBLEM}, ended_at = ${ENDED_AT}
       from open where a.operation_id = $1 and number = ${NUMBER} and outcome is null
       returning number),
     kept as (
       insert into evidence (operation_id, type, attempt, verdict, detail, at)
       select $1, 'write_answer', number, ${OUTCOME}, ${DETAIL}::jsonb, ${ENDED_AT} from ended),
     ${writeIf('exists (select from ended)')}
     select from written`,
};

/**
 * Stores the outcome of an attempt that decides about its operation at once, and gives nothing back. Undefined where nothing was
 * written: it decides something else, or somebody changed the operation since its intent.
 */
export async function endPlainly(
  pool: Pool,
  begun: OperationFile,
  number: number,
  outcome: WriteOutcome,
): Promise<OperationFile | undefined> {
  // What people decide about it changes no version: with an approval the file may be out of date.
  if (begun.approval !== null) return undefined;
  const file = withOutcome({ ...begun, now: await clock(pool, undefined) }, number, outcome);
  const change = changeByAttempt(file.operation, file.attempts, number, outcome);
  if (!change || releasesClaims(change.to)) return undefined;
  const events = answerEvents(file, number, outcome);
  const move = prepareMove(file, file.now, change, { patch: patchBy(outcome), events });
  const { rowCount } = await run(pool, END, [
    ...writeValues(move),
    number,
    outcome.status,
    problemOf(outcome),
    file.now,
    JSON.stringify(answerOf(file, number, outcome).detail),
  ]);
  return rowCount === 1 ? { ...file, operation: move.after } : undefined;
}

/** The time of the database; those who ask at one moment share the answer. */
const clock = inBatches(async (pool: Pool, asked: readonly undefined[]) => {
  const { rows } = await pool.query<{ now: string }>('select holdfast_now() as now');
  return asked.map(() => rows[0]?.now ?? '');
});

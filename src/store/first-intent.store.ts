// What must hold at the first intent beyond the operation's own state, asked inside its transaction: nothing that was true earlier is
// taken for true now (contract §7).
import type { DecisionVerifier } from '../domain/approval-decision.ts';
import type { ApprovalRecord } from '../domain/approval-record.ts';
import { standingOf, type Standing } from '../domain/approval-rules.ts';
import { judgeFirstIntent, type Difference } from '../domain/first-intent.ts';
import { operationProblem } from '../domain/operation-problem.ts';
import type { Operation, OperationFile } from '../domain/operation.ts';
import { decisionOf } from '../domain/policy-decision.ts';
import type { PolicyVerdict } from '../domain/policy.ts';
import type { PreconditionAnswer } from '../domain/precondition.ts';
import type { Change } from '../domain/settlement.ts';
import { askAnew, type NextRound } from './approval-rounds.store.ts';
import { readLatestApproval } from './approval-rows.ts';
import { expireApproval } from './approvals.store.ts';
import { approversGone } from './approver-rights.store.ts';
import { appendAudit, auditOf } from './audit.store.ts';
import type { Pool, Queryable } from './pool.ts';
import { readFiles, type LockedFile } from './operations.store.ts';
import { submitterOwners } from './submitter-owners.store.ts';
import { inTransaction } from './transaction.ts';
import { moveOperation } from './transitions.store.ts';

/**
 * `ended`: the operation was ended by what was found. `unapproved`: people have to decide, or what they decided isn't proved. `unreadable`:
 * the provider doesn't say how the target stands. `again`: what was read is too old. `unproved`: what an earlier try was begun with isn't
 * proved, and a person looks now.
 */
export type Hindrance = 'ended' | 'unapproved' | 'unreadable' | 'again' | 'unproved';

/** What was read for a first intent, before its transaction. */
export interface FirstIntentReading {
  readonly verdict: PolicyVerdict;
  readonly preconditions: PreconditionAnswer | undefined;
  /** True while the reading may be used. */
  readonly isFresh: () => boolean;
  /** True where preconditions that can't be read end an operation that needs no approval. */
  readonly lastTry: boolean;
  /** Fresh id, where people have to be asked anew. */
  readonly approvalId: string;
}

export interface FirstIntentChecks {
  /** Whose signatures prove that people agreed. */
  readonly desk: DecisionVerifier;
  /** Undefined for intents after the first. */
  readonly reading: FirstIntentReading | undefined;
}

/**
 * What keeps an operation that is locked from its first intent; undefined where nothing does. Writes down what follows from it, so
 * the caller's transaction has to be committed either way.
 */
export async function checkBeforeFirstIntent(
  db: Queryable,
  file: LockedFile,
  { desk, reading }: FirstIntentChecks,
): Promise<Hindrance | undefined> {
  if (file.attempts.length > 0) return checkBeforeLaterIntent(db, file, desk);
  if (!reading) throw new Error('a first intent without a reading');
  if (!needsApproval(file)) return judgeReading(db, file, undefined, reading);
  const approval = await readLatestApproval(db, file.operation.operationId);
  const waits = file.operation.status === 'AWAITING_APPROVAL';
  // Whoever wrote another state over it has also taken it from the desk: it would wait for ever.
  if (!waits && approval?.status !== 'approved') return endAsChanged(db, file);
  if (waits && approval && Date.parse(approval.expiresAt) <= Date.parse(file.now)) {
    await expireApproval(db, { ...file, approval });
    return 'ended';
  }
  const standing = await judgeApproval(db, file, approval, desk);
  return standing === 'approved' ? judgeReading(db, file, approval, reading) : 'unapproved';
}

/**
 * A later try needs no new approval, but the one that the first was begun with must be there and proved, by the time it was used at.
 * Otherwise somebody could write an earlier try into the ledger and never ask anybody.
 */
async function checkBeforeLaterIntent(
  db: Queryable,
  file: LockedFile,
  desk: DecisionVerifier,
): Promise<Hindrance | undefined> {
  const { operation, now } = file;
  if (!operation.plan.awaits_approval) return undefined;
  const approval = await readLatestApproval(db, operation.operationId);
  const usedAt = approval?.consumedAt;
  if (
    approval &&
    usedAt &&
    (await standingAt(db, operation, approval, usedAt, desk)) === 'approved'
  )
    return undefined;
  if (approval) await auditUnproved(db, { operation, now }, approval.approvalId);
  await endAsChanged(db, file);
  return 'unproved';
}

async function judgeReading(
  db: Queryable,
  file: LockedFile,
  approval: ApprovalRecord | undefined,
  reading: FirstIntentReading,
): Promise<Hindrance | undefined> {
  const { accountId } = file.operation;
  const { verdict, preconditions } = reading;
  if (preconditions && !reading.isFresh()) return 'again';
  const gone = approval ? await approversGone(db, accountId, approval) : [];
  const findings = { verdict, approval, approversGone: gone, preconditions };
  const judged = judgeFirstIntent(findings);
  switch (judged.step) {
    case 'send':
      return undefined;
    case 'reject':
      return end(db, file, { to: 'REJECTED', error: operationProblem('policy_denied') });
    case 'fail':
      return end(db, file, {
        to: 'FAILED',
        error: operationProblem('precondition_failed', judged.reason),
      });
    case 'ask': {
      const next = nextRound(reading, judged.difference);
      const asked = await askAnew(db, file, approval, next);
      return asked === 'asked' ? 'unapproved' : 'ended';
    }
    case 'unreadable':
      // With an approval it is asked until that expires: a person has given time for it.
      if (approval || !reading.lastTry) return 'unreadable';
      return end(db, file, { to: 'FAILED', error: operationProblem('provider_unavailable') });
  }
}

function endAsChanged(db: Queryable, file: LockedFile): Promise<Hindrance> {
  const error = operationProblem(
    'command_changed',
    'What people agreed to is not proved any more.',
  );
  return end(db, file, { to: 'NEEDS_REVIEW', reviewReason: 'command_changed', error });
}

async function end(db: Queryable, file: LockedFile, change: Change): Promise<Hindrance> {
  await moveOperation(db, file, file.now, change);
  return 'ended';
}

/** The difference names the policy where that asks for more than was agreed to. */
function nextRound(
  { approvalId, verdict, preconditions }: FirstIntentReading,
  difference: Difference,
): NextRound {
  const asks =
    difference.policy && verdict.verdict === 'require_approval'
      ? { requirement: verdict.requirement, decision: decisionOf(verdict) }
      : undefined;
  const shown = preconditions?.status === 'read' ? preconditions.values : null;
  return { approvalId, asked: asks, difference, preconditions: shown };
}

/** Also where somebody has written another state over the one in which it waited: the plan says what was asked for at the claim. */
function needsApproval({ operation, attempts }: OperationFile): boolean {
  const isAsked = operation.status === 'AWAITING_APPROVAL' || operation.plan.awaits_approval;
  return isAsked && attempts.length === 0;
}

/** Uses the approval up, with the first intent that it allows. Throws where another has: then the intent must not stand either. */
export async function consumeApproval(
  db: Queryable,
  file: OperationFile,
  now: string,
): Promise<void> {
  if (!needsApproval(file)) return;
  const { operation, approval } = file;
  const { rowCount } = await db.query(
    `update approvals set consumed_at = $2
     where approval_id = $1 and status = 'approved' and consumed_at is null`,
    [approval?.approvalId, now],
  );
  if (rowCount !== 1) throw new Error(`the approval of ${operation.operationId} was used before`);
}

/** What the stored decisions about an operation come to now; undefined where it waits for none. */
export async function approvalStanding(
  pool: Pool,
  operationId: string,
  desk: DecisionVerifier,
): Promise<Standing | undefined> {
  return inTransaction(pool, async (db) => {
    const [file] = await readFiles(db, [operationId]);
    if (file?.operation.status !== 'AWAITING_APPROVAL') return undefined;
    const { rows } = await db.query<{ now: string }>('select holdfast_now() as now');
    const approval = await readLatestApproval(db, operationId);
    return judgeApproval(db, { ...file, now: rows[0]?.now ?? '' }, approval, desk);
  });
}

async function judgeApproval(
  db: Queryable,
  { operation, now }: LockedFile,
  approval: ApprovalRecord | undefined,
  desk: DecisionVerifier,
): Promise<Standing> {
  if (!approval || approval.consumedAt !== null) return 'pending';
  const standing = await standingAt(db, operation, approval, now, desk);
  if (standing === 'unproved') await auditUnproved(db, { operation, now }, approval.approvalId);
  return standing;
}

async function standingAt(
  db: Queryable,
  operation: Operation,
  approval: ApprovalRecord,
  at: string,
  desk: DecisionVerifier,
): Promise<Standing> {
  const submitters = await submitterOwners(db, operation.operationId);
  return standingOf({ operation, approval }, submitters, at, desk);
}

/** Once for each approval, however often it is looked at. */
async function auditUnproved(
  db: Queryable,
  { operation, now }: Pick<LockedFile, 'operation' | 'now'>,
  approvalId: string,
): Promise<void> {
  const detail = { code: 'approval_unproved', approval_id: approvalId };
  const { rowCount } = await db.query(
    `select 1 from audit_events where operation_id = $1 and type = 'refused' and detail @> $2`,
    [operation.operationId, JSON.stringify(detail)],
  );
  if (rowCount !== 0) return;
  const refused = { ...auditOf(operation, 'refused', now), principalId: null, agentRun: null };
  await appendAudit(db, [{ ...refused, detail }]);
}

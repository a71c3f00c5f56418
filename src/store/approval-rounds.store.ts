// Approvals that were overtaken before they were used, and those that replace them.
import type { ApprovalRecord } from '../domain/approval-record.ts';
import type { ApprovalRequirement } from '../domain/approval-requirement.ts';
import { MOST_TIMES_ASKED_ANEW, type Difference } from '../domain/first-intent.ts';
import { operationProblem } from '../domain/operation-problem.ts';
import type { PolicyDecision } from '../domain/policy-decision.ts';
import type { PreconditionValues } from '../domain/precondition.ts';
import { appendAudit, auditOf, type AuditEvent } from './audit.store.ts';
import { lockFile, type LockedFile } from './operations.store.ts';
import type { Pool, Queryable } from './pool.ts';
import { inTransaction } from './transaction.ts';
import { moveOperation, patchOperation } from './transitions.store.ts';

export interface NextRound {
  /** Fresh id of the approval. */
  readonly approvalId: string;
  /** What the policy asks now; undefined where it asks no more than the approval that was overtaken. */
  readonly asked:
    { readonly requirement: ApprovalRequirement; readonly decision: PolicyDecision } | undefined;
  readonly difference: Difference;
  /** As read just now; null for kinds that have none. */
  readonly preconditions: PreconditionValues | null;
}

/**
 * Makes the approval void, if there was one, and asks people anew, in the transaction that found it overtaken. After the last round the
 * operation expires instead.
 */
export async function askAnew(
  db: Queryable,
  file: LockedFile,
  overtaken: ApprovalRecord | undefined,
  next: NextRound,
): Promise<'asked' | 'ended'> {
  const events = overtaken ? [await voidApproval(db, file, overtaken, next.difference)] : [];
  // The first one asks for the first time.
  if (overtaken && overtaken.round > MOST_TIMES_ASKED_ANEW) {
    await expireOvertaken(db, file, events);
    return 'ended';
  }
  await insertRound(db, file, overtaken, next);
  await holdForPeople(db, file, next.asked?.decision);
  const detail = { approval_id: next.approvalId, round: (overtaken?.round ?? 0) + 1 };
  const asked = [...events, { ...auditOf(file.operation, 'approval_requested', file.now), detail }];
  if (file.operation.status === 'AWAITING_APPROVAL') {
    await appendAudit(db, asked);
    await patchOperation(db, file, file.now, {});
  } else {
    await moveOperation(db, file, file.now, { to: 'AWAITING_APPROVAL' }, { events: asked });
  }
  return 'asked';
}

/** The stored bytes show the approval as void, as the row does. */
async function expireOvertaken(
  db: Queryable,
  file: LockedFile,
  events: readonly AuditEvent[],
): Promise<void> {
  const error = operationProblem(
    'approval_expired',
    `Asked anew ${MOST_TIMES_ASKED_ANEW} times and overtaken each time; nothing was sent.`,
  );
  const approval = file.approval && { ...file.approval, status: 'void' as const };
  const change = { to: 'EXPIRED', error } as const;
  await moveOperation(db, { ...file, approval }, file.now, change, { events });
}

/** The audit names what has changed, not its values: those are on the next card. */
async function voidApproval(
  db: Queryable,
  { operation, now }: LockedFile,
  { approvalId }: ApprovalRecord,
  difference: Difference,
): Promise<AuditEvent> {
  await db.query(`update approvals set status = 'void' where approval_id = $1`, [approvalId]);
  const changed = Object.keys(difference);
  const detail = { approval_id: approvalId, decision: 'void', changed };
  return { ...auditOf(operation, 'approval_decided', now), principalId: null, detail };
}

/** Terms that the policy doesn't change are those of the approval that was overtaken, its time included. */
async function insertRound(
  db: Queryable,
  { operation, now }: LockedFile,
  overtaken: ApprovalRecord | undefined,
  { approvalId, asked, difference, preconditions }: NextRound,
): Promise<void> {
  const terms = asked?.requirement ?? termsOf(overtaken);
  await db.query(
    `insert into approvals (approval_id, operation_id, fingerprint, status, reason, created_at,
       expires_at, round, quorum, approvers, own_requests, policy_version, preconditions,
       preconditions_read_at, difference)
     values ($1, $2, $3, 'pending', $4, $5, $5::timestamptz + $6::float8 * interval '1 millisecond',
       $7, $8, $9, $10, $11, $12, case when $12::jsonb is null then null else $5::timestamptz end, $13)`,
    [
      approvalId,
      operation.operationId,
      operation.fingerprint,
      terms.reasons.join('; '),
      now,
      terms.ttlMs,
      (overtaken?.round ?? 0) + 1,
      terms.quorum,
      terms.approvers,
      terms.ownRequests,
      terms.policyVersion,
      preconditions,
      difference,
    ],
  );
}

function termsOf(overtaken: ApprovalRecord | undefined) {
  if (!overtaken) throw new Error('only a stricter policy asks where nobody was asked before');
  const { reason, quorum, approvers, ownRequests, policyVersion } = overtaken;
  const ttlMs = Date.parse(overtaken.expiresAt) - Date.parse(overtaken.createdAt);
  return { reasons: [reason], quorum, approvers, ownRequests, policyVersion, ttlMs };
}

/** From now on the plan says that people are asked, whatever becomes of the row's state, and the row tells by which policy. */
async function holdForPeople(
  db: Queryable,
  { operation }: LockedFile,
  decision: PolicyDecision | undefined,
): Promise<void> {
  await db.query(
    `update operations set plan = plan || '{"awaits_approval": true}',
       policy_decision = coalesce($2, policy_decision)
     where operation_id = $1`,
    [operation.operationId, decision],
  );
}

/** The approval that waits and whose card doesn't show yet what the provider says of the target; undefined where there is none. */
export async function approvalToShow(
  db: Queryable,
  operationId: string,
): Promise<string | undefined> {
  const { rows } = await db.query<{ approval_id: string }>(
    `select approval_id from approvals p
     where operation_id = $1 and status = 'pending' and preconditions_read_at is null
       and not exists (select from approval_votes v where v.approval_id = p.approval_id)`,
    [operationId],
  );
  return rows[0]?.approval_id;
}

/** Puts on the card what the provider says of the target, unless somebody has agreed to it as it is. */
export async function showPreconditions(
  pool: Pool,
  operationId: string,
  values: PreconditionValues,
): Promise<void> {
  await inTransaction(pool, async (db) => {
    // Votes are given under this lock.
    const file = await lockFile(db, operationId);
    const approvalId = file && (await approvalToShow(db, operationId));
    if (!approvalId) return;
    await db.query(
      'update approvals set preconditions = $2, preconditions_read_at = $3 where approval_id = $1',
      [approvalId, values, file.now],
    );
  });
}

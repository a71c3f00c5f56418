// What must hold at the first intent beyond the operation's own state, asked inside its transaction: nothing that was true earlier is
// taken for true now (contract §7).
import type { DecisionVerifier } from '../domain/approval-decision.ts';
import type { ApprovalRecord } from '../domain/approval-record.ts';
import { standingOf, type Standing } from '../domain/approval-rules.ts';
import type { OperationFile } from '../domain/operation.ts';
import { readLatestApproval } from './approval-rows.ts';
import { expireApproval } from './approvals.store.ts';
import { appendAudit, auditOf } from './audit.store.ts';
import type { Pool, Queryable } from './pool.ts';
import { readFile, type LockedFile } from './operations.store.ts';
import { submitterOwners } from './submitter-owners.store.ts';
import { inTransaction } from './transaction.ts';

/** `expired`: the operation was ended by that. `unapproved`: people have to decide, or what they decided isn't proved. */
export type Hindrance = 'expired' | 'unapproved';

/**
 * What keeps an operation that is locked from its first intent; undefined where nothing does. Writes down what follows from it, so
 * the caller's transaction has to be committed either way.
 */
export async function checkBeforeFirstIntent(
  db: Queryable,
  file: LockedFile,
  desk: DecisionVerifier,
): Promise<Hindrance | undefined> {
  if (!needsApproval(file)) return undefined;
  const approval = await readLatestApproval(db, file.operation.operationId);
  const waits = file.operation.status === 'AWAITING_APPROVAL';
  if (waits && approval && Date.parse(approval.expiresAt) <= Date.parse(file.now)) {
    await expireApproval(db, { ...file, approval });
    return 'expired';
  }
  const standing = await judgeApproval(db, file, approval, desk);
  return standing === 'approved' ? undefined : 'unapproved';
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
    const file = await readFile(db, operationId);
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
  const submitters = await submitterOwners(db, operation.operationId);
  const standing = standingOf({ operation, approval }, submitters, now, desk);
  if (standing === 'unproved') await auditUnproved(db, { operation, now }, approval.approvalId);
  return standing;
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

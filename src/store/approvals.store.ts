// Approvals and time: nobody's silence is a yes. The database clock alone says when an offer is over, whoever notices it first.
import { operationProblem } from '../domain/operation-problem.ts';
import { auditOf } from './audit.store.ts';
import { lockFile, type LockedFile } from './operations.store.ts';
import type { Pool, Queryable } from './pool.ts';
import { inTransaction } from './transaction.ts';
import { moveOperation } from './transitions.store.ts';

/** Milliseconds until the operation's approval expires (0: it is over), or undefined where the operation doesn't wait for one. */
export async function expireApprovalIfDue(
  pool: Pool,
  operationId: string,
): Promise<number | undefined> {
  return inTransaction(pool, async (db) => {
    const file = await lockFile(db, operationId);
    if (file?.operation.status !== 'AWAITING_APPROVAL' || !file.approval) return undefined;
    const leftMs = Date.parse(file.approval.expiresAt) - Date.parse(file.now);
    if (leftMs > 0) return leftMs;
    await expireApproval(db, file);
    return 0;
  });
}

/** Ends an operation whose approval's time is over; an approval that was given in time and not used in time is over as well. */
export async function expireApproval(db: Queryable, file: LockedFile): Promise<void> {
  const { operation, approval, now } = file;
  if (!approval) throw new Error(`no approval of ${operation.operationId} to expire`);
  await db.query(`update approvals set status = 'expired' where approval_id = $1`, [
    approval.approvalId,
  ]);
  const detail = { approval_id: approval.approvalId, decision: 'expired' };
  const events = [{ ...auditOf(operation, 'approval_decided', now), detail }];
  const error = operationProblem('approval_expired');
  const expired = { ...file, approval: { ...approval, status: 'expired' as const } };
  await moveOperation(db, expired, now, { to: 'EXPIRED', error }, { events });
}

// Approvals: for now they are asked for and expire; deciding them comes with the approval desk.
import { operationProblem } from '../domain/operation-problem.ts';
import { appendAudit, auditOf } from './audit.store.ts';
import { lockFile } from './operations.store.ts';
import type { Pool } from './pool.ts';
import { inTransaction } from './transaction.ts';
import { moveOperation } from './transitions.store.ts';

/** Milliseconds until the open approval expires (0: it is over), or undefined where the operation doesn't wait for one. */
export async function expireApprovalIfDue(
  pool: Pool,
  operationId: string,
): Promise<number | undefined> {
  return inTransaction(pool, async (db) => {
    const file = await lockFile(db, operationId);
    if (file?.operation.status !== 'AWAITING_APPROVAL' || !file.approval) return undefined;
    const leftMs = Date.parse(file.approval.expiresAt) - Date.parse(file.now);
    if (leftMs > 0) return leftMs;
    await db.query(`update approvals set status = 'expired' where approval_id = $1`, [
      file.approval.approvalId,
    ]);
    await appendAudit(db, [
      {
        ...auditOf(file.operation, 'approval_decided', file.now),
        detail: { approval_id: file.approval.approvalId, decision: 'expired' },
      },
    ]);
    const approval = { ...file.approval, status: 'expired' as const };
    const error = operationProblem('approval_expired');
    await moveOperation(db, { ...file, approval }, file.now, { to: 'EXPIRED', error });
    return 0;
  });
}

// Canceling: before the first intent only, so that it is certain that nothing was done.
import { operationProblem } from '../domain/operation-problem.ts';
import type { OperationFile } from '../domain/operation.ts';
import { lockFile } from './operations.store.ts';
import { enqueue } from './outbox.store.ts';
import type { Pool } from './pool.ts';
import { inTransaction } from './transaction.ts';
import { moveOperation } from './transitions.store.ts';

/** The file afterwards; unchanged where it was too late. Undefined where there is no such operation. `by`: whose wish it was. */
export async function cancelBeforeIntent(
  pool: Pool,
  operationId: string,
  by?: string,
): Promise<OperationFile | undefined> {
  return inTransaction(pool, async (db) => {
    const file = await lockFile(db, operationId);
    const early = ['PENDING', 'AWAITING_APPROVAL'].includes(file?.operation.status ?? '');
    if (!file || !early) return file;
    const error = operationProblem('canceled');
    await db.query(
      `update approvals set status = 'void' where operation_id = $1 and status in ('pending', 'approved')`,
      [operationId],
    );
    const approval = file.approval && { ...file.approval, status: 'void' as const };
    await enqueue(db, operationId, 'wake');
    return moveOperation(db, { ...file, approval }, file.now, { to: 'CANCELED', error }, { by });
  });
}

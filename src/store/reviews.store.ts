// Sending an operation to a person without a provider having said anything.
import { operationProblem } from '../domain/operation-problem.ts';
import { isSettled } from '../domain/operation-state.ts';
import { lockFile } from './operations.store.ts';
import type { Pool } from './pool.ts';
import { inTransaction } from './transaction.ts';
import { moveOperation } from './transitions.store.ts';

/** The stored command is not what was claimed: nothing more is sent, and a person looks (contract §6.8). */
export async function reviewChangedCommand(pool: Pool, operationId: string): Promise<void> {
  await inTransaction(pool, async (db) => {
    const file = await lockFile(db, operationId);
    // What is settled is contradicted by provider evidence alone.
    if (!file || isSettled(file.operation.status) || file.operation.status === 'NEEDS_REVIEW')
      return;
    await moveOperation(db, file, file.now, {
      to: 'NEEDS_REVIEW',
      reviewReason: 'command_changed',
      error: operationProblem('command_changed'),
    });
  });
}

// The sweep heals what the engine forgot: unsettled operations whose workflow was terminated, purged or never started. The row says
// what is left to do; a run that is open is always left alone (contract §7).
import { needsReconciliation } from '../domain/operation.ts';
import type { Logger } from '../observability/logger.ts';
import { expireApprovalIfDue } from '../store/approvals.store.ts';
import { readFile } from '../store/operations.store.ts';
import type { Pool } from '../store/pool.ts';
import { leaseForSweep } from '../store/sweep.store.ts';
import type { WorkflowStarter } from '../temporal/workflow-starter.ts';

const BATCH = 100;

/** Calls to the engine at once: recovery must not crowd out live traffic. */
const AT_ONCE = 10;

export interface SweepDependencies {
  readonly pool: Pool;
  readonly starter: WorkflowStarter;
  readonly intervalMs: number;
  readonly logger: Logger;
}

/** Looks at the operations that are due; answers how many there were. One that fails is due again after the interval. */
export async function sweepOnce(deps: SweepDependencies): Promise<number> {
  const due = await leaseForSweep(deps.pool, BATCH, deps.intervalMs);
  for (let from = 0; from < due.length; from += AT_ONCE) {
    await Promise.all(due.slice(from, from + AT_ONCE).map((id) => sweepSafely(deps, id)));
  }
  return due.length;
}

async function sweepSafely(deps: SweepDependencies, operationId: string): Promise<void> {
  try {
    await sweepOperation(deps, operationId);
  } catch (error) {
    deps.logger.warn({ operation_id: operationId, error }, 'not swept');
  }
}

async function sweepOperation(
  { pool, starter }: SweepDependencies,
  operationId: string,
): Promise<void> {
  // Also where no timer of the engine fires: the database clock alone decides that nobody came in time.
  if ((await expireApprovalIfDue(pool, operationId)) === 0) return;
  const file = await readFile(pool, operationId);
  if (!file) return;
  if (!needsReconciliation(file)) {
    await starter.restart(file.operation);
  } else if (!(await starter.isRunning(file.operation))) {
    // While its own run is open, that one reconciles: an intent without outcome may simply be in flight.
    await starter.restartReconciliation(file.operation);
  }
}

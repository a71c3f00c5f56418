// The sweep heals what the engine forgot: unsettled operations whose workflow was terminated, purged or never started. The row says
// what is left to do; a run that is open is always left alone (contract §7).
import { needsReconciliation } from '../domain/operation.ts';
import type { Logger } from '../observability/logger.ts';
import { expireApprovalIfDue } from '../store/approvals.store.ts';
import { readFile } from '../store/operations.store.ts';
import type { Pool } from '../store/pool.ts';
import { leaseForSweep } from '../store/sweep.store.ts';
import type { WorkflowStarter } from '../temporal/workflow-starter.ts';

/** One round's share. At one round a second (see `SWEEP_AGAIN_MS`) a backlog is worked off without crowding out live traffic. */
const BATCH = 50;

/** Operations looked at together, a call or two to the engine each. */
const AT_ONCE = 5;

/** Pause between two rounds of a backlog: after a long outage everything is due, and the engine has just come back. */
export const SWEEP_AGAIN_MS = 1_000;

export interface SweepDependencies {
  readonly pool: Pool;
  readonly starter: WorkflowStarter;
  readonly intervalMs: number;
  readonly logger: Logger;
}

/**
 * Looks at the operations that are due, the longest waiting first; answers how many there were. One that fails is due again after the
 * interval, like all others, and holds nobody up. Where the engine is away the round ends early and answers 0: its rows come again.
 */
export async function sweepOnce(deps: SweepDependencies, stopping?: AbortSignal): Promise<number> {
  const due = await leaseForSweep(deps.pool, BATCH, deps.intervalMs);
  for (let from = 0; from < due.length; from += AT_ONCE) {
    if (stopping?.aborted) break;
    const share = due.slice(from, from + AT_ONCE);
    const swept = await Promise.all(share.map((id) => sweepSafely(deps, id)));
    if (!swept.includes(true) && !(await deps.starter.answers())) return 0;
  }
  return due.length;
}

async function sweepSafely(deps: SweepDependencies, operationId: string): Promise<boolean> {
  try {
    await sweepOperation(deps, operationId);
    return true;
  } catch (error) {
    deps.logger.warn({ operation_id: operationId, err: error }, 'not swept');
    return false;
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

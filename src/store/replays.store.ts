// Audit events of repeats, in batches.
import { auditOf, appendAudit } from './audit.store.ts';
import type { Operation } from '../domain/operation.ts';
import type { Pool } from './pool.ts';
import type { Principal } from './principals.store.ts';
import { inTransaction } from './transaction.ts';

/** Repeats of one operation by one principal and agent run since the last event. */
export interface Replays {
  readonly operation: Operation;
  readonly principal: Principal;
  readonly agentRun: string | null;
  /** The key that was repeated: the operation's own or an alias. */
  readonly key: string;
  readonly count: number;
}

export async function recordReplays(pool: Pool, replays: readonly Replays[]): Promise<void> {
  await inTransaction(pool, async (db) => {
    const { rows } = await db.query<{ now: string }>('select holdfast_now() as now');
    const at = rows[0]?.now ?? '';
    const events = replays.map(({ operation, principal, agentRun, key, count }) => ({
      ...auditOf(operation, 'replayed' as const, at),
      principalId: principal.principalId,
      agentRun,
      idempotencyKey: key,
      detail: { count },
    }));
    await appendAudit(db, events);
  });
}

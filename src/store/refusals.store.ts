// Refusals that are worth proving later: by grant, by policy, by mismatch. They claim nothing; they are only written down.
import type { Principal } from './principals.store.ts';
import type { Queryable } from './pool.ts';

export interface Refusal {
  readonly principal: Principal;
  readonly code: string;
  readonly route: string;
  readonly idempotencyKey?: string | undefined;
  readonly agentRun?: string | null | undefined;
  readonly operationId?: string | undefined;
  /** Ids and names only. */
  readonly detail?: Readonly<Record<string, unknown>>;
  readonly approvalId?: string | undefined;
}

/** Appends one `refused` event to the caller's own account. */
export async function recordRefusal(db: Queryable, refusal: Refusal): Promise<void> {
  await db.query(
    `insert into audit_events (account_id, operation_id, type, at, principal_id, agent_run, route, idempotency_key, detail)
     values ($1, $2, 'refused', holdfast_now(), $3, $4, $5, $6, $7)`,
    [
      refusal.principal.accountId,
      refusal.operationId,
      refusal.principal.principalId,
      refusal.agentRun,
      refusal.route,
      refusal.idempotencyKey,
      { code: refusal.code, approval_id: refusal.approvalId, ...refusal.detail },
    ],
  );
}

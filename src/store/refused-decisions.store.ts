// Decisions that came past the desk: by a signal of somebody who reaches the engine's namespace. They change nothing and are written down.
import type { DecisionFault } from '../domain/approval-decision.ts';
import type { Operation } from '../domain/operation.ts';
import type { Pool } from './pool.ts';

/** Enough to show that somebody tries; a flood of signals must not become a flood of events. */
const MOST_PER_OPERATION = 20;

/** Appends one `refused` event without a principal: nobody knows who it was. False where there are enough of them already. */
export async function recordRefusedDecision(
  pool: Pool,
  { operationId, accountId, idempotencyKey, fingerprint }: Operation,
  code: DecisionFault,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `insert into audit_events
       (account_id, operation_id, type, at, idempotency_key, fingerprint, detail)
     select $2, $1, 'refused', holdfast_now(), $3, $4, $5
     where $6 > (
       select count(*) from audit_events
       where operation_id = $1 and type = 'refused' and detail @> '{"door": "signal"}')`,
    [
      operationId,
      accountId,
      idempotencyKey,
      fingerprint,
      { code, door: 'signal' },
      MOST_PER_OPERATION,
    ],
  );
  return rowCount === 1;
}

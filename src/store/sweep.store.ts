// Which operations recovery looks at next. Several sweepers share the work: a leased row is left alone until its next turn.
import type { Pool } from './pool.ts';

/** Leases at most `limit` unsettled operations that are due, for `intervalMs`; answers their ids. Uses `operations_to_sweep`. */
export async function leaseForSweep(
  pool: Pool,
  limit: number,
  intervalMs: number,
): Promise<string[]> {
  const { rows } = await pool.query<{ operation_id: string }>(
    `update operations set next_sweep_at = holdfast_now() + $2 * interval '1 millisecond'
     where operation_id in (
       select operation_id from operations
       where next_sweep_at <= holdfast_now()
         and status in ('PENDING', 'AWAITING_APPROVAL', 'IN_PROGRESS', 'UNKNOWN', 'RECONCILING')
       order by next_sweep_at limit $1 for update skip locked)
     returning operation_id`,
    [limit, intervalMs],
  );
  return rows.map((row) => row.operation_id);
}

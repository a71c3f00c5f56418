// How many operations are open, and since when: for metrics, and never by account.
import type { OperationState } from '../domain/operation-state.ts';
import type { ReviewReason } from '../domain/operation.ts';
import type { Queryable } from './pool.ts';

export interface OpenOperations {
  readonly kind: string;
  readonly adapter: string;
  readonly state: OperationState;
  /** Of those in NEEDS_REVIEW. */
  readonly reviewReason: ReviewReason | null;
  readonly count: number;
  /** How long the oldest has been in this state. */
  readonly oldestAgeMs: number;
}

/**
 * Unsettled operations in groups. Reads the open ones only: `operations_to_sweep` and `operations_to_decide` hold nothing else, so
 * its cost grows with the backlog and not with the history.
 */
export async function openOperations(db: Queryable): Promise<OpenOperations[]> {
  const { rows } = await db.query(
    `select kind, adapter, status, review_reason, count(*)::int as count,
       coalesce(extract(epoch from holdfast_now() - min(since)) * 1000, 0)::float8 as oldest
     from (
       select kind, adapter, status, null as review_reason,
         case when status in ('UNKNOWN', 'RECONCILING') then unknown_since else updated_at end as since
       from operations
       where status in ('PENDING', 'AWAITING_APPROVAL', 'IN_PROGRESS', 'UNKNOWN', 'RECONCILING')
       union all
       select kind, adapter, status, review_reason, updated_at
       from operations
       where status = 'NEEDS_REVIEW') as open
     group by kind, adapter, status, review_reason`,
  );
  return rows.map((row) => ({
    kind: row.kind,
    adapter: row.adapter,
    state: row.status,
    reviewReason: row.review_reason,
    count: row.count,
    oldestAgeMs: Math.max(0, row.oldest),
  }));
}

// How far recovery is behind: a few numbers for a metric and for whoever is woken by it.
import { DUE_TO_EXPIRE } from './personal-data.store.ts';
import type { Queryable } from './pool.ts';

export interface OutboxLag {
  /** Messages that the engine has not been told, parked ones aside. */
  readonly undelivered: number;
  /** Age of the oldest of them; 0 where there is none. */
  readonly oldestAgeMs: number;
  /** Messages that wait for a person. */
  readonly parked: number;
}

/** A healthy relay keeps the oldest age at a few seconds. */
export async function outboxLag(db: Queryable): Promise<OutboxLag> {
  const { rows } = await db.query(
    `select count(*) filter (where parked_at is null)::int as undelivered,
       count(*) filter (where parked_at is not null)::int as parked,
       coalesce(extract(epoch from
         holdfast_now() - min(enqueued_at) filter (where parked_at is null)) * 1000, 0)::float8 as oldest
     from outbox_messages`,
  );
  const [row] = rows;
  return { undelivered: row.undelivered, oldestAgeMs: row.oldest, parked: row.parked };
}

export interface SweepLag {
  /** Unsettled operations whose turn has come. */
  readonly due: number;
  /** How long the one that waits longest has been due; 0 where there is none. */
  readonly oldestDueMs: number;
}

/** A healthy sweep keeps both near zero. Uses `operations_to_sweep`. */
export async function sweepLag(db: Queryable): Promise<SweepLag> {
  const { rows } = await db.query(
    `select count(*)::int as due,
       coalesce(extract(epoch from holdfast_now() - min(next_sweep_at)) * 1000, 0)::float8 as oldest
     from operations
     where next_sweep_at <= holdfast_now()
       and status in ('PENDING', 'AWAITING_APPROVAL', 'IN_PROGRESS', 'UNKNOWN', 'RECONCILING')`,
  );
  const [row] = rows;
  return { due: row.due, oldestDueMs: row.oldest };
}

export interface RetentionLag {
  /** Settled operations whose personal members should be gone by now. */
  readonly due: number;
  /** How long the one that waits longest has been due; 0 where there is none. */
  readonly oldestDueMs: number;
}

/** A healthy retention keeps both near zero. Uses `operations_to_reduce`. */
export async function retentionLag(db: Queryable, retentionMs: number): Promise<RetentionLag> {
  const { rows } = await db.query(
    `select count(*)::int as due, coalesce(greatest(0,
       extract(epoch from holdfast_now() - min(words_at)) * 1000 - $1::float8), 0)::float8 as oldest
     from operations where ${DUE_TO_EXPIRE}`,
    [retentionMs],
  );
  const [row] = rows;
  return { due: row.due, oldestDueMs: row.oldest };
}

export interface SealLag {
  /** Audit events that have no place in a chain yet. */
  readonly unsealed: number;
  /** Age of the oldest of them; 0 where there is none. */
  readonly oldestAgeMs: number;
}

/** A healthy sealer keeps the age at a few seconds. Uses `audit_events_unsealed`. */
export async function sealLag(db: Queryable): Promise<SealLag> {
  const { rows } = await db.query(
    `select count(*)::int as unsealed,
       coalesce(extract(epoch from holdfast_now() - min(at)) * 1000, 0)::float8 as oldest
     from audit_events where sequence is null`,
  );
  const [row] = rows;
  return { unsealed: row.unsealed, oldestAgeMs: row.oldest };
}

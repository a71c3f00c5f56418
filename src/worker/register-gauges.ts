// The register's numbers for a scrape: read from Postgres when somebody asks, and at most every few seconds.
import { OPERATION_STATES, isSettled } from '../domain/operation-state.ts';
import type { Connection } from '../domain/connection.ts';
import type { RegisterGauges } from '../observability/metrics.ts';
import {
  outboxLag,
  retentionLag,
  sealLag,
  sweepLag,
  type OutboxLag,
  type RetentionLag,
  type SealLag,
  type SweepLag,
} from '../store/lag.store.ts';
import { openOperations, type OpenOperations } from '../store/open-operations.store.ts';
import type { Queryable } from '../store/pool.ts';

/** Shorter than any scrape interval in use; scrapers beyond the first cost nothing. */
const FRESH_MS = 5_000;

const OPEN_STATES = OPERATION_STATES.filter((state) => !isSettled(state));

/** What of the configuration the numbers are about. */
export interface RegisterScope {
  readonly connections: readonly Pick<Connection, 'adapter' | 'kinds'>[];
  readonly retentionMs: number;
}

/**
 * A function that brings the gauges up to date. Where Postgres doesn't answer they are emptied: an old number would say that all is
 * as it was. Never rejects.
 */
export function keepGauges(
  db: Queryable,
  gauges: RegisterGauges,
  { connections, retentionMs }: RegisterScope,
): () => Promise<void> {
  let reading: Promise<void> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  const refresh = async (): Promise<void> => {
    try {
      const [open, outbox, sweep, retention, seal] = await Promise.all([
        openOperations(db),
        outboxLag(db),
        sweepLag(db),
        retentionLag(db, retentionMs),
        sealLag(db),
      ]);
      empty(gauges);
      showNone(gauges, connections);
      showOpen(gauges, open);
      showLag(gauges, outbox, sweep);
      showRetention(gauges, retention);
      showSealing(gauges, seal);
      gauges.readable.set(1);
    } catch {
      empty(gauges);
      gauges.readable.set(0);
    }
    readAt = performance.now();
    reading = undefined;
  };
  return async () => {
    if (performance.now() - readAt < FRESH_MS) return;
    reading ??= refresh();
    await reading;
  };
}

function empty(gauges: RegisterGauges): void {
  const { open, oldestAge, needingPerson, ...withoutLabels } = gauges;
  for (const gauge of [open, oldestAge, needingPerson]) gauge.reset();
  // Reset would set them to 0.
  for (const gauge of Object.values(withoutLabels)) gauge.remove();
}

/** A state that nobody is in is 0, not missing: what is configured can be told in advance. */
function showNone(
  { open, oldestAge }: RegisterGauges,
  connections: RegisterScope['connections'],
): void {
  for (const state of OPEN_STATES) {
    oldestAge.set({ state }, 0);
    for (const { adapter, kinds } of connections) {
      for (const kind of kinds) open.set({ kind, adapter, state }, 0);
    }
  }
}

function showOpen(gauges: RegisterGauges, groups: readonly OpenOperations[]): void {
  const oldest = new Map<string, number>();
  for (const { kind, adapter, state, reviewReason, count, oldestAgeMs } of groups) {
    gauges.open.inc({ kind, adapter, state }, count);
    oldest.set(state, Math.max(oldest.get(state) ?? 0, oldestAgeMs));
    if (state === 'AWAITING_APPROVAL' || state === 'NEEDS_REVIEW') {
      const reason = state === 'NEEDS_REVIEW' ? (reviewReason ?? 'unknown') : 'approval';
      gauges.needingPerson.set({ kind, adapter, reason }, count);
    }
  }
  for (const [state, ageMs] of oldest) gauges.oldestAge.set({ state }, ageMs / 1_000);
}

function showLag(gauges: RegisterGauges, outbox: OutboxLag, sweep: SweepLag): void {
  gauges.outboxUndelivered.set(outbox.undelivered);
  gauges.outboxOldestAge.set(outbox.oldestAgeMs / 1_000);
  gauges.outboxParked.set(outbox.parked);
  gauges.sweepDue.set(sweep.due);
  gauges.sweepOldestDue.set(sweep.oldestDueMs / 1_000);
}

function showRetention(gauges: RegisterGauges, { due, oldestDueMs }: RetentionLag): void {
  gauges.retentionDue.set(due);
  gauges.retentionOldestDue.set(oldestDueMs / 1_000);
}

function showSealing(gauges: RegisterGauges, { unsealed, oldestAgeMs }: SealLag): void {
  gauges.auditUnsealed.set(unsealed);
  gauges.auditSealLag.set(oldestAgeMs / 1_000);
}

// The register's numbers for a scrape: read from Postgres when somebody asks, and at most every few seconds.
import { OPERATION_STATES, isSettled } from '../domain/operation-state.ts';
import type { Connection } from '../domain/connection.ts';
import type { RegisterGauges } from '../observability/metrics.ts';
import {
  outboxLag,
  sealLag,
  sweepLag,
  type OutboxLag,
  type SealLag,
  type SweepLag,
} from '../store/lag.store.ts';
import { openOperations, type OpenOperations } from '../store/open-operations.store.ts';
import type { Queryable } from '../store/pool.ts';

/** Shorter than any scrape interval in use; scrapers beyond the first cost nothing. */
const FRESH_MS = 5_000;

const OPEN_STATES = OPERATION_STATES.filter((state) => !isSettled(state));

/**
 * A function that brings the gauges up to date. Where Postgres doesn't answer they are emptied: an old number would say that all is
 * as it was. Never rejects.
 */
export function keepGauges(
  db: Queryable,
  gauges: RegisterGauges,
  connections: readonly Connection[],
): () => Promise<void> {
  let reading: Promise<void> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  const refresh = async (): Promise<void> => {
    try {
      const [open, outbox, sweep, seal] = await Promise.all([
        openOperations(db),
        outboxLag(db),
        sweepLag(db),
        sealLag(db),
      ]);
      empty(gauges);
      showNone(gauges, connections);
      showOpen(gauges, open);
      showLag(gauges, outbox, sweep);
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
function showNone({ open, oldestAge }: RegisterGauges, connections: readonly Connection[]): void {
  for (const state of OPEN_STATES) {
    oldestAge.set({ state }, 0);
    for (const { name, kinds } of connections) {
      for (const kind of kinds) open.set({ kind, connection: name, state }, 0);
    }
  }
}

function showOpen(gauges: RegisterGauges, groups: readonly OpenOperations[]): void {
  const oldest = new Map<string, number>();
  for (const { kind, connection, state, reviewReason, count, oldestAgeMs } of groups) {
    gauges.open.inc({ kind, connection, state }, count);
    oldest.set(state, Math.max(oldest.get(state) ?? 0, oldestAgeMs));
    if (state === 'AWAITING_APPROVAL' || state === 'NEEDS_REVIEW') {
      const reason = state === 'NEEDS_REVIEW' ? (reviewReason ?? 'unknown') : 'approval';
      gauges.needingPerson.set({ kind, connection, reason }, count);
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

function showSealing(gauges: RegisterGauges, { unsealed, oldestAgeMs }: SealLag): void {
  gauges.auditUnsealed.set(unsealed);
  gauges.auditSealLag.set(oldestAgeMs / 1_000);
}

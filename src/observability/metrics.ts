// Every metric by name. Labels are few and bounded: kinds, adapters, states, outcomes, codes, route templates; never accounts, nor
// connections (which are named after them), keys, ids or anything that a caller chooses. Each process has a registry of its own, made once by its composition root and passed down.
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** From a local answer to one that waits for a slow provider; a caller may also ask to be held for 45 s. */
const REQUEST_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** A provider's deadline is seconds. */
const CALL_BUCKETS_S = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** From an answer at once to the reconciliation deadline of 72 h. */
const EXECUTION_BUCKETS_S = [
  0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1_800, 7_200, 86_400, 259_200,
];
/** Refusals are tried again a handful of times. */
const RETRY_BUCKETS = [0, 1, 2, 3, 5, 8, 13];

/** What one API counts. */
export type ApiMetrics = ReturnType<typeof createApiMetrics>;

/** Metrics of the HTTP side, over a registry of their own. */
export function createApiMetrics() {
  const registry = new Registry();
  const registers = [registry];
  return {
    registry,
    submits: new Counter({
      name: 'holdfast_submits_total',
      help: 'Submits by how they were answered: a disposition, or the code of the refusal.',
      labelNames: ['kind', 'answer'],
      registers,
    }),
    duplicatesPrevented: new Counter({
      name: 'holdfast_duplicates_prevented_total',
      help: 'Submits that would have acted a second time without their key or business key: replayed, in_progress, reused, fingerprint_mismatch, business_duplicate.',
      labelNames: ['kind', 'reason'],
      registers,
    }),
    requestDuration: new Histogram({
      name: 'holdfast_http_request_duration_seconds',
      help: 'Time to the end of an answer; held: the caller asked to wait (Prefer: wait) and did.',
      labelNames: ['method', 'route', 'status_class', 'held'],
      buckets: REQUEST_BUCKETS_S,
      registers,
    }),
    problems: new Counter({
      name: 'holdfast_http_problems_total',
      help: 'Problem documents by code.',
      labelNames: ['code'],
      registers,
    }),
  };
}

/** What one worker counts about what its activities do. */
export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>;

/** Metrics of the executing side, over a registry of their own. */
export function createWorkerMetrics() {
  const registry = new Registry();
  const registers = [registry];
  return {
    registry,
    providerCalls: new Counter({
      name: 'holdfast_provider_calls_total',
      help: 'Calls to providers (write, lookup) by outcome; timeout: no whole answer within the deadline.',
      labelNames: ['kind', 'adapter', 'call', 'outcome'],
      registers,
    }),
    providerCallDuration: new Histogram({
      name: 'holdfast_provider_call_duration_seconds',
      help: 'Duration of a call to a provider, whatever came of it.',
      labelNames: ['adapter', 'call'],
      buckets: CALL_BUCKETS_S,
      registers,
    }),
    executionDuration: new Histogram({
      name: 'holdfast_execution_duration_seconds',
      help: 'From the first intent to the settling, by the database clock; waiting for a person before it is not in it.',
      labelNames: ['kind', 'adapter', 'state'],
      buckets: EXECUTION_BUCKETS_S,
      registers,
    }),
    retries: new Histogram({
      name: 'holdfast_operation_retries',
      help: 'Attempts beyond the first of an operation that a worker saw end, be it settled or with a person.',
      labelNames: ['kind', 'adapter'],
      buckets: RETRY_BUCKETS,
      registers,
    }),
    reconciliations: new Counter({
      name: 'holdfast_reconciliations_total',
      help: 'Reconciliations that ended: settled by evidence, to_person (needs review), by_person (somebody was quicker).',
      labelNames: ['kind', 'adapter', 'result'],
      registers,
    }),
    approvalsUnproved: new Counter({
      name: 'holdfast_approvals_unproved_total',
      help: 'How often an operation was found that its row calls approved and no valid signatures do. Nothing is sent for it; it is looked at again every ten minutes.',
      registers,
    }),
    chainsBroken: new Gauge({
      name: 'holdfast_audit_chains_broken',
      help: 'Accounts whose audit chain in the database is not the one whose signed heads are known: cut, changed or rewritten. Nothing is sealed onto them.',
      registers,
    }),
  };
}

/** Shows in a registry whether the policy file is in force as it stands. */
export function showPolicy(registry: Registry, isFresh: () => boolean): void {
  const gauge = new Gauge({
    name: 'holdfast_policy_fresh',
    help: '1 where the policy file is in force as it stands; 0 where it cannot be used and the one before it is in force.',
    registers: [],
    collect() {
      this.set(isFresh() ? 1 : 0);
    },
  });
  registry.registerMetric(gauge);
}

/** The share of the audit's sealer. */
export type SealerMetrics = Pick<WorkerMetrics, 'chainsBroken'>;

/** What the register says when it is asked. Each worker shows the same numbers: take the maximum over workers, never the sum. */
export type RegisterGauges = ReturnType<typeof createRegisterGauges>;

/** Gauges of what is stored, in the given registry. */
export function createRegisterGauges(registry: Registry) {
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  return {
    readable: gauge(
      'holdfast_register_readable',
      '1 where the numbers of the register are fresh; 0 where Postgres did not answer, and then they are missing.',
    ),
    open: gauge('holdfast_open_operations', 'Operations that are not settled, by state.', [
      'kind',
      'adapter',
      'state',
    ]),
    oldestAge: gauge(
      'holdfast_oldest_open_operation_age_seconds',
      'How long the oldest operation of this state has been in it; 0 where there is none.',
      ['state'],
    ),
    needingPerson: gauge(
      'holdfast_operations_needing_person',
      'Operations that wait for a person: approval, or the reason of the review.',
      ['kind', 'adapter', 'reason'],
    ),
    outboxUndelivered: gauge(
      'holdfast_outbox_undelivered_messages',
      'Messages that the engine has not been told yet.',
    ),
    outboxOldestAge: gauge(
      'holdfast_outbox_oldest_message_age_seconds',
      'Age of the oldest undelivered message; 0 where there is none.',
    ),
    outboxParked: gauge(
      'holdfast_outbox_parked_messages',
      'Messages set aside for a person because they cannot be delivered.',
    ),
    sweepDue: gauge(
      'holdfast_sweep_due_operations',
      'Unsettled operations that the sweep should have looked at by now.',
    ),
    sweepOldestDue: gauge(
      'holdfast_sweep_oldest_due_seconds',
      'How long the one that waits longest has been due; 0 where there is none.',
    ),
    retentionDue: gauge(
      'holdfast_retention_due_operations',
      'Settled operations past retention that still hold what is personal.',
    ),
    retentionOldestDue: gauge(
      'holdfast_retention_oldest_due_seconds',
      'How long past retention the oldest of them is; 0 where there is none.',
    ),
    auditUnsealed: gauge(
      'holdfast_audit_unsealed_events',
      'Audit events that have no place in the chain of their account yet.',
    ),
    auditSealLag: gauge(
      'holdfast_audit_seal_lag_seconds',
      'Age of the oldest audit event that is not sealed; 0 where there is none.',
    ),
  };
}

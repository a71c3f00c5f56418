// What the activities work with; given once by the worker.
import type { DecisionVerifier } from '../domain/approval-decision.ts';
import type { Policy } from '../domain/policy.ts';
import type { Logger } from '../observability/logger.ts';
import type { WorkerMetrics } from '../observability/metrics.ts';
import type { Tracing } from '../observability/tracing.ts';
import type { ConnectedProviders } from '../providers/connected-providers.ts';
import type { Pool } from '../store/pool.ts';

export interface ActivityDependencies {
  readonly pool: Pool;
  readonly providers: ConnectedProviders;
  /** The policy in force, which is asked again before the first intent. */
  readonly policy: () => Policy;
  /** The approval desk's public keys: without a signature of theirs no decision is believed. */
  readonly desk: DecisionVerifier;
  /** Names this process in the attempt ledger. */
  readonly worker: string;
  readonly logger: Logger;
  readonly metrics: WorkerMetrics;
  readonly tracing: Tracing;
}

// What the activities work with; given once by the worker.
import type { Logger } from '../observability/logger.ts';
import type { WorkerMetrics } from '../observability/metrics.ts';
import type { Tracing } from '../observability/tracing.ts';
import type { ConnectedProviders } from '../providers/connected-providers.ts';
import type { Pool } from '../store/pool.ts';

export interface ActivityDependencies {
  readonly pool: Pool;
  readonly providers: ConnectedProviders;
  /** Names this process in the attempt ledger. */
  readonly worker: string;
  readonly logger: Logger;
  readonly metrics: WorkerMetrics;
  readonly tracing: Tracing;
}

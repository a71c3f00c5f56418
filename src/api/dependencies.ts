// What the API works with; given once by its composition root.
import type { CapabilityCard } from '../domain/capability-card.ts';
import type { Connection } from '../domain/connection.ts';
import type { PlanSettings } from '../domain/execution-plan.ts';
import type { Logger } from '../observability/logger.ts';
import type { ApiMetrics } from '../observability/metrics.ts';
import type { Tracing } from '../observability/tracing.ts';
import type { EventReceivers } from '../domain/provider-event.ts';
import type { Pool } from '../store/pool.ts';
import type { ReplayAudit } from './replay-audit.ts';
import type { RateLimits } from './rate-limits.ts';
import type { RestWatcher } from './rest-watcher.ts';
import type { StartSoon } from './start-soon.ts';

export interface ApiDependencies {
  readonly pool: Pool;
  readonly rateLimits: RateLimits;
  readonly connections: readonly Connection[];
  /** Capability card of an adapter by its name. */
  readonly cardOf: (adapter: string) => CapabilityCard;
  readonly plan: PlanSettings;
  readonly approvalTtlMs: number;
  readonly installationId: string;
  readonly startSoon: StartSoon;
  readonly replays: Pick<ReplayAudit, 'note'>;
  readonly watcher: RestWatcher;
  /** True where Temporal answers. */
  readonly engineAnswers: () => Promise<boolean>;
  /** A fresh random id for an operation or approval, with its prefix. */
  /** How events of a connection are read; undefined where there is no such connection or it has none. */
  readonly eventReceiver: EventReceivers;
  readonly newId: (prefix: 'op' | 'apr') => string;
  readonly metrics: ApiMetrics;
  readonly tracing: Tracing;
  readonly logger: Logger;
}

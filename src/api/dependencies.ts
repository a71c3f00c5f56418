// What the API works with; given once by its composition root.
import type { DecisionSigner, DecisionVerifier } from '../domain/approval-decision.ts';
import type { CapabilityCard } from '../domain/capability-card.ts';
import type { BareConnection } from '../domain/connection.ts';
import type { PlanSettings } from '../domain/execution-plan.ts';
import type { Policy } from '../domain/policy.ts';
import type { Logger } from '../observability/logger.ts';
import type { ApiMetrics } from '../observability/metrics.ts';
import type { Tracing } from '../observability/tracing.ts';
import type { EventReceivers } from '../domain/provider-event.ts';
import type { Pool } from '../store/pool.ts';
import type { ReplayAudit } from './replay-audit.ts';
import type { RateLimits } from './rate-limits.ts';
import type { FindTokenCaller } from './token-callers.ts';
import type { RestWatcher } from './rest-watcher.ts';
import type { StartSoon } from './start-soon.ts';

export interface ApiDependencies {
  readonly pool: Pool;
  readonly rateLimits: RateLimits;
  /** Who shows a token of the identity provider; undefined where none is configured. */
  readonly tokenCaller: FindTokenCaller | undefined;
  /** The identity provider by its name; null where none is configured. */
  readonly issuer: string | null;
  readonly connections: readonly BareConnection[];
  /** Capability card of an adapter by its name. */
  readonly cardOf: (adapter: string) => CapabilityCard;
  readonly plan: PlanSettings;
  /** The policy in force. */
  readonly policy: () => Policy;
  /** False where the policy file can't be used as it stands and an earlier one is in force. */
  readonly policyIsFresh: () => boolean;
  readonly installationId: string;
  /** The approval desk's private key. */
  readonly desk: DecisionSigner;
  /** The desk's public keys, those before today's among them. */
  readonly deskKeys: DecisionVerifier;
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

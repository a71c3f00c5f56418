// The API's process: dependencies, checks that must hold before the first request, and listening.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ApiConfig } from '../config.ts';
import { connectionProblems } from '../domain/connection.ts';
import type { EventReceivers } from '../domain/provider-event.ts';
import { tokenVerifier } from '../identity/verify-token.ts';
import type { Logger } from '../observability/logger.ts';
import { createApiMetrics, showPolicy } from '../observability/metrics.ts';
import { startTracing } from '../observability/start-tracing.ts';
import { definitionOf, KINDS } from '../operations/registry.ts';
import { keepPolicy } from '../policy/keep-policy.ts';
import { adapterOf } from '../providers/connected-providers.ts';
import { eventReceivers } from '../providers/event-receivers.ts';
import { adapters } from '../providers/index.ts';
import { signingKeyOf, verifierOf } from '../signing/configured-keys.ts';
import { createPool, type Pool } from '../store/pool.ts';
import { readStates, kindVersionsInUse } from '../store/operations.store.ts';
import { accountsInUse, installationId } from '../store/principals.store.ts';
import { createTemporalClient, engineAnswers } from '../temporal/connection.ts';
import { provideSearchAttributes } from '../temporal/search-attributes.ts';
import { createWorkflowStarter, type WorkflowStarter } from '../temporal/workflow-starter.ts';
import { createApp } from './app.ts';
import type { ApiDependencies } from './dependencies.ts';
import { ReplayAudit } from './replay-audit.ts';
import { closeInOrder, createHttpServer, listen } from './http-server.ts';
import { createRateLimits } from './rate-limits.ts';
import { RestWatcher } from './rest-watcher.ts';
import { serveApiMetrics } from './serve-api-metrics.ts';
import { createStartSoon, type StartSoon } from './start-soon.ts';
import { tokenCallers, type FindTokenCaller } from './token-callers.ts';

/** Below Postgres' default of 100 together with two APIs and a worker. */
const POOL_SIZE = 20;

/** The longest request that isn't held: a wait for a connection and a statement that is given up. Held ones are answered at once. */
const ANSWERS_WITHIN_MS = 14_000;
/** Afterwards: starts that are under way take milliseconds; one that takes longer stands in the outbox anyway. */
const DRAINS_WITHIN_MS = 2_000;

/** What the rig puts around the parts; an ordinary start has none of it. */
export interface ApiFaults {
  readonly newId: (newId: ApiDependencies['newId']) => ApiDependencies['newId'];
  readonly starter: (starter: WorkflowStarter) => WorkflowStarter;
  readonly startSoon: (startSoon: StartSoon) => StartSoon;
  readonly readEvent: (read: EventReceivers) => EventReceivers;
}

const NO_FAULTS: ApiFaults = {
  newId: (newId) => newId,
  starter: (starter) => starter,
  startSoon: (startSoon) => startSoon,
  readEvent: (read) => read,
};

export interface RunningApi {
  /** Takes no more requests, answers those under way, then ends. */
  stop(): Promise<void>;
}

/** Starts to listen; throws with a sentence where configuration and database don't fit together. */
export async function startApi(
  config: ApiConfig,
  logger: Logger,
  faults: ApiFaults = NO_FAULTS,
): Promise<RunningApi> {
  const desk = signingKeyOf('desk', config.keys.desk);
  const deskKeys = verifierOf('desk', config.keys.desk);
  const pool = createPool(config.postgres.url, {
    max: POOL_SIZE,
    onIdleError: (error) => logger.warn({ err: error }, 'a database connection was lost'),
  });
  await refuseMisfits(config, pool);
  const tracing = await startTracing('holdfast-api', config.tracesEndpoint, logger);
  const client = createTemporalClient(config.temporal);
  const starter = faults.starter(createWorkflowStarter(client, config.temporal.taskQueue, tracing));
  // Not waited for: claims are taken while the engine is away.
  const searchable = provideSearchAttributes(client, logger);
  const startSoon = faults.startSoon(createStartSoon(pool, starter, logger));
  const replays = new ReplayAudit(pool, logger);
  const policy = keepPolicy(config, KINDS, logger);
  const metrics = createApiMetrics();
  showPolicy(metrics.registry, policy.isFresh);
  const deps: ApiDependencies = {
    pool,
    connections: config.connections,
    cardOf,
    plan: config,
    policy: policy.current,
    policyIsFresh: policy.isFresh,
    installationId: await installationId(pool),
    desk,
    deskKeys,
    startSoon,
    replays,
    rateLimits: createRateLimits(config.rateLimits),
    tokenCaller: tokenCallerOf(config, pool, logger),
    issuer: config.oidc?.issuer ?? null,
    watcher: new RestWatcher((ids) => readStates(pool, ids)),
    engineAnswers: () => engineAnswers(client),
    eventReceiver: faults.readEvent(
      eventReceivers(config.connections, adapters, process.env, Date.now),
    ),
    newId: faults.newId((prefix) => `${prefix}_${randomUUID()}`),
    metrics,
    tracing,
    logger,
  };
  const server = createHttpServer(createApp(deps));
  await listen(server, config.ports.api, config.host);
  const place = { port: config.ports.apiMetrics, host: config.metricsHost, home: config.home };
  const metricsServer = await serveApiMetrics(place, deps.metrics, logger);
  return {
    async stop() {
      policy.stop();
      deps.watcher.close();
      await closeInOrder(server, ANSWERS_WITHIN_MS);
      await metricsServer?.stop();
      const drained = Promise.all([startSoon.drain(), replays.stop(), searchable]).then(() => true);
      const quiet = await Promise.race([drained, pause(DRAINS_WITHIN_MS, false, { ref: false })]);
      // A client that is closed during a call throws where nobody can catch it; the end of the process closes it as well.
      if (quiet) await client.connection.close();
      await Promise.all([pool.end(), tracing.stop()]);
    },
  };
}

function tokenCallerOf(
  { oidc, connections }: ApiConfig,
  pool: Pool,
  logger: Logger,
): FindTokenCaller | undefined {
  return oidc && tokenCallers(oidc, tokenVerifier(oidc), { pool, logger, connections });
}

function cardOf(adapterName: string) {
  const adapter = adapters.find((one) => one.name === adapterName);
  if (!adapter) throw new Error(`no adapter is named ${adapterName}`);
  return adapter.card;
}

/** What must hold before the first request: every account is served, every adapter and every stored kind is known. */
async function refuseMisfits(config: ApiConfig, pool: Pool): Promise<void> {
  for (const connection of config.connections) adapterOf(connection, adapters);
  const problems = connectionProblems(config.connections, await accountsInUse(pool), KINDS);
  const unregistered = (await kindVersionsInUse(pool))
    .filter(({ kind, version }) => !definitionOf(kind, version))
    .map(
      ({ kind, version }) =>
        `operations of ${kind} ${version} are stored, and it is not registered`,
    );
  const all = [...problems, ...unregistered];
  if (all.length > 0) throw new Error(all.join('; '));
}

// The worker: the workflows' engine side, their activities, and beside them the relay, the sweep and retention.
import { hostname } from 'node:os';
import {
  makeTelemetryFilterString,
  NativeConnection,
  Runtime,
  Worker,
  type LogLevel,
  type NativeConnectionOptions,
} from '@temporalio/worker';
import { createActivities } from '../activities/index.ts';
import type { Sealer } from '../audit/sealer.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../observability/logger.ts';
import { createWorkerMetrics, showPolicy } from '../observability/metrics.ts';
import { startTracing } from '../observability/start-tracing.ts';
import { KINDS, personalMembersOf } from '../operations/registry.ts';
import { relayOnce, type RelayDependencies } from '../outbox/relay.ts';
import { keepPolicy } from '../policy/keep-policy.ts';
import { connectProviders } from '../providers/connected-providers.ts';
import { adapters } from '../providers/index.ts';
import type { ProviderAdapter } from '../providers/provider.ts';
import { repeat } from '../recovery/repeat.ts';
import { SWEEP_AGAIN_MS, sweepOnce } from '../recovery/sweep.ts';
import { EXPIRE_AGAIN_MS, expireOnce } from '../retention/expire.ts';
import { verifierOf } from '../signing/configured-keys.ts';
import { createPool } from '../store/pool.ts';
import { createTemporalClient } from '../temporal/connection.ts';
import { provideSearchAttributes } from '../temporal/search-attributes.ts';
import { createWorkflowStarter, type WorkflowStarter } from '../temporal/workflow-starter.ts';
import type { OperationActivities } from '../workflows/activities.contract.ts';
import { openSealer } from './open-sealer.ts';
import { serveWorkerMetrics } from './serve-worker-metrics.ts';

/** A statement holds a connection for milliseconds; twenty serve hundreds of operations a second. */
const POOL_SIZE = 20;

/** Above the longest provider call and the storing after it: a deployment never cuts a call off (engine fact 1). */
const GRACE_AROUND_DEADLINE_MS = 10_000;

/** Isolates are memory outside the heap, so their number is a choice and not derived from it. */
const CACHED_WORKFLOWS = 300;

/** What the rig puts around the parts; an ordinary start has none of it. */
export interface WorkerFaults {
  readonly adapter: (adapter: ProviderAdapter) => ProviderAdapter;
  readonly starter: (starter: WorkflowStarter) => WorkflowStarter;
  readonly activities: (activities: OperationActivities) => OperationActivities;
}

const NO_FAULTS: WorkerFaults = {
  adapter: (adapter) => adapter,
  starter: (starter) => starter,
  activities: (activities) => activities,
};

export interface RunningWorker {
  /** Stops taking work, finishes calls under way, then ends. Rejects where the engine's side broke. */
  stop(): Promise<void>;
  /** Settles when the worker has ended, for whatever reason. */
  readonly ended: Promise<void>;
}

/** Starts polling; `workflowBundlePath` is the pre-built bundle of the same SDK version. */
export async function startWorker(
  config: Config,
  logger: Logger,
  workflowBundlePath: string,
  faults: WorkerFaults = NO_FAULTS,
): Promise<RunningWorker> {
  installRuntime(logger, config.logLevel);
  const desk = verifierOf('desk', config.keys.desk);
  const tracing = await startTracing('holdfast-worker', config.tracesEndpoint, logger);
  const pool = createPool(config.postgres.url, {
    max: POOL_SIZE,
    onIdleError: (error) => logger.warn({ err: error }, 'a database connection was lost'),
  });
  const client = createTemporalClient(config.temporal);
  const starter = faults.starter(createWorkflowStarter(client, config.temporal.taskQueue, tracing));
  const metrics = createWorkerMetrics();
  const policy = keepPolicy(config, KINDS, logger);
  showPolicy(metrics.registry, policy.isFresh);
  const activities = createActivities({
    pool,
    desk,
    providers: connectProviders(config.connections, adapters.map(faults.adapter), process.env),
    policy: policy.current,
    worker: `${process.pid}@${hostname()}`,
    logger,
    metrics,
    tracing,
  });
  const connection = await NativeConnection.connect(nativeOptions(config));
  await provideSearchAttributes(client, logger);
  const worker = await Worker.create({
    connection,
    namespace: config.temporal.namespace,
    taskQueue: config.temporal.taskQueue,
    workflowBundle: { codePath: workflowBundlePath },
    activities: faults.activities(activities),
    shutdownGraceTime: config.providerDeadlineMs + GRACE_AROUND_DEADLINE_MS,
    maxCachedWorkflows: CACHED_WORKFLOWS,
    workflowTaskPollerBehavior: { type: 'autoscaling' },
    activityTaskPollerBehavior: { type: 'autoscaling' },
  });
  const metricsServer = await serveWorkerMetrics(config, metrics, pool, logger);
  const sealer = openSealer(config, { pool, metrics, logger });
  const stopLoops = startLoops(config, { pool, starter, logger }, sealer);
  const run = async (): Promise<void> => {
    try {
      await worker.run();
    } finally {
      policy.stop();
      await stopLoops();
      await Promise.all([metricsServer?.stop(), tracing.stop()]);
      await Promise.all([connection.close(), client.connection.close(), pool.end()]);
    }
  };
  const ended = run();
  return {
    ended,
    stop: () => {
      // Their last round ends while the worker drains.
      void stopLoops();
      if (worker.getState() === 'RUNNING') worker.shutdown();
      return ended;
    },
  };
}

/** Relay, sweep, retention and sealer; answers how they are stopped. */
function startLoops(
  config: Config,
  deps: RelayDependencies,
  sealer: Sealer | undefined,
): () => Promise<unknown> {
  const report = (what: string) => (error: unknown) => deps.logger.warn({ err: error }, what);
  const relay = repeat({
    everyMs: config.relayIntervalMs,
    againMs: 0,
    round: () => relayOnce(deps),
    onError: report('relay round failed'),
  });
  const sweep = repeat({
    everyMs: config.sweepIntervalMs,
    againMs: SWEEP_AGAIN_MS,
    round: (stopping) => sweepOnce({ ...deps, intervalMs: config.sweepIntervalMs }, stopping),
    onError: report('sweep round failed'),
  });
  const { everyMs, afterMs: retentionMs } = config.retention;
  const expiry = { ...deps, retentionMs, personalOf: personalMembersOf };
  const retention = repeat({
    everyMs,
    againMs: EXPIRE_AGAIN_MS,
    round: (stopping) => expireOnce(expiry, stopping),
    onError: report('retention round failed'),
  });
  const sealing =
    sealer &&
    repeat({
      everyMs: config.audit.sealIntervalMs,
      againMs: 0,
      round: () => sealer.sealOnce(),
      onError: report('audit not sealed'),
    });
  return () => Promise.all([relay.stop(), sweep.stop(), retention.stop(), sealing?.stop()]);
}

function nativeOptions(config: Config): NativeConnectionOptions {
  return { address: config.temporal.address };
}

/** The SDK's own log goes into ours, and it leaves signals to us: the relay must stop as well. */
function installRuntime(logger: Logger, level: string): void {
  Runtime.install({
    shutdownSignals: [],
    logger: {
      log: (at: LogLevel, message, meta) => logger[pinoLevel(at)]({ ...meta }, message),
      trace: (message, meta) => logger.trace({ ...meta }, message),
      debug: (message, meta) => logger.debug({ ...meta }, message),
      info: (message, meta) => logger.info({ ...meta }, message),
      warn: (message, meta) => logger.warn({ ...meta }, message),
      error: (message, meta) => logger.error({ ...meta }, message),
    },
    telemetryOptions: {
      logging: {
        forward: {},
        filter: makeTelemetryFilterString({ core: level === 'debug' ? 'DEBUG' : 'WARN' }),
      },
    },
  });
}

function pinoLevel(level: LogLevel) {
  return level.toLowerCase() as 'trace' | 'debug' | 'info' | 'warn' | 'error';
}

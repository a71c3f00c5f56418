// A worker inside the test's own process: the real activities over the real bundle, with something put in the way of one of them.
import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { createActivities } from '../../src/activities/index.ts';
import { readConfig } from '../../src/config.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { createWorkerMetrics } from '../../src/observability/metrics.ts';
import { readPolicy } from '../../src/policy/keep-policy.ts';
import { NO_TRACING } from '../../src/observability/tracing.ts';
import { connectProviders } from '../../src/providers/connected-providers.ts';
import { adapters } from '../../src/providers/index.ts';
import type { ProviderAdapter } from '../../src/providers/provider.ts';
import { readVerifier } from '../../src/signing/keys.ts';
import { createPool } from '../../src/store/pool.ts';
import type { OperationActivities } from '../../src/workflows/activities.contract.ts';
import { quietRuntime } from './quiet-runtime.ts';
import type { RunningSystem } from './running-system.ts';

export const BUNDLE = fileURLToPath(new URL('../../dist/workflow-bundle.js', import.meta.url));

export interface InTheWay {
  /** Stands between the activities and the provider. */
  readonly adapter?: (real: ProviderAdapter) => ProviderAdapter;
  /** Stands between the engine and the activities. */
  readonly activities?: (real: OperationActivities) => OperationActivities;
  readonly options?: Partial<WorkerOptions>;
}

export interface InProcessWorker {
  /** Ends it, with whatever grace its options give, and waits for that. */
  stop(): Promise<void>;
}

/** Polls the system's task queue until stopped. Neither relay nor sweep run beside it. */
export async function startInProcessWorker(
  system: RunningSystem,
  { adapter = (real) => real, activities = (real) => real, options = {} }: InTheWay,
): Promise<InProcessWorker> {
  quietRuntime();
  const config = readConfig(system.env);
  const policy = readPolicy(config);
  const pool = createPool(system.databaseUrl, { max: 10, onIdleError: () => {} });
  const real = createActivities({
    pool,
    desk: readVerifier(config.keys.desk.publicKeyFolder),
    providers: connectProviders(config.connections, adapters.map(adapter), {}),
    policy: () => policy,
    worker: `in-process@${process.pid}`,
    logger: createLogger('worker', 'silent'),
    metrics: createWorkerMetrics(),
    tracing: NO_TRACING,
  });
  const connection = await NativeConnection.connect({ address: system.temporal.address });
  const worker = await Worker.create({
    connection,
    namespace: system.temporal.namespace,
    taskQueue: system.temporal.taskQueue,
    workflowBundle: { codePath: BUNDLE },
    activities: activities(real),
    maxCachedWorkflows: 100,
    ...options,
  });
  const ended = worker.run();
  return {
    async stop() {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await ended;
      await connection.close();
      await pool.end();
    },
  };
}

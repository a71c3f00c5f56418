// The worker's metrics: what it counted itself, what the register says, and what the APIs of its home offer.
import type { Config } from '../config.ts';
import type { Logger } from '../observability/logger.ts';
import { createRegisterGauges, type WorkerMetrics } from '../observability/metrics.ts';
import { serveMetrics, type MetricsServer } from '../observability/metrics-server.ts';
import { expositionOf } from '../observability/shared-metrics.ts';
import type { Pool } from '../store/pool.ts';
import { keepGauges } from './register-gauges.ts';

/** Undefined, with a line in the log, where the port is taken: operations go on without being counted. */
export async function serveWorkerMetrics(
  { ports, metricsHost, home, connections, retention }: Config,
  { registry }: WorkerMetrics,
  pool: Pool,
  logger: Logger,
): Promise<MetricsServer | undefined> {
  const scope = { connections, retentionMs: retention.afterMs };
  const refresh = keepGauges(pool, createRegisterGauges(registry), scope);
  try {
    return await serveMetrics({ port: ports.metrics, host: metricsHost }, async () => {
      await refresh();
      return expositionOf(registry, home);
    });
  } catch (error) {
    logger.error({ err: error, port: ports.metrics }, 'metrics are not served: METRICS_PORT');
    return undefined;
  }
}

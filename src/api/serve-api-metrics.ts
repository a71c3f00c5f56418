// Where the API's metrics are shown: by the worker of its home, or, where there is none, on a port of its own.
import type { Logger } from '../observability/logger.ts';
import type { ApiMetrics } from '../observability/metrics.ts';
import { serveMetrics, type MetricsServer } from '../observability/metrics-server.ts';
import { offerMetrics } from '../observability/shared-metrics.ts';

/** `port` undefined: at a socket in `home`. */
interface Place {
  readonly port: number | undefined;
  readonly host: string;
  readonly home: string;
}

/** Undefined, with a line in the log, where that can't be: requests are answered without being counted. */
export async function serveApiMetrics(
  { port, host, home }: Place,
  { registry }: ApiMetrics,
  logger: Logger,
): Promise<MetricsServer | undefined> {
  try {
    if (port === undefined) return await offerMetrics(home, `api-${process.pid}`, registry);
    return await serveMetrics({ port, host }, async () => ({
      contentType: registry.contentType,
      body: await registry.metrics(),
    }));
  } catch (error) {
    logger.error({ err: error }, 'metrics are not served: API_METRICS_PORT, HOLDFAST_HOME');
    return undefined;
  }
}

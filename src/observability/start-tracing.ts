// Tracing where somebody collects the spans. Unless OTEL_EXPORTER_OTLP_ENDPOINT is set nothing of the SDK is loaded, and a traceparent is
// passed on as it came.
import type { Logger } from './logger.ts';
import { NO_TRACING, type Tracing } from './tracing.ts';

/** `endpoint`: base URL of an OTLP/HTTP collector; undefined: nothing is traced. `service` names the process. */
export async function startTracing(
  service: string,
  endpoint: string | undefined,
  logger: Logger,
): Promise<Tracing> {
  if (endpoint === undefined) return NO_TRACING;
  // An installation without a collector doesn't carry the SDK.
  const { createTracing } = await import('./otel-tracing.ts');
  return createTracing(service, endpoint, logger);
}

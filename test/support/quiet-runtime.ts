// The SDK's native side in this process, once, saying only what is an error: tests make runs fail on purpose.
import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';

export const quietLogger = new DefaultLogger('ERROR');

let installed = false;

/** Before anything else of the SDK's worker is used. */
export function quietRuntime(): void {
  if (installed) return;
  installed = true;
  const filter = makeTelemetryFilterString({ core: 'ERROR' });
  Runtime.install({
    logger: quietLogger,
    shutdownSignals: [],
    telemetryOptions: { logging: { filter } },
  });
}

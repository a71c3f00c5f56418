// What all our processes have in common: configuration, log, an orderly end, and a clear sentence when they can't start.
import { readConfig, type Config } from '../config.ts';
import { createLogger, type Logger } from '../observability/logger.ts';
import { exitWithParent } from '../supervisor/follow-parent.ts';

export interface RunningProcess {
  /** Finishes what is under way; the process ends after it. */
  stop(): Promise<void>;
}

/** Starts a process and stops it on SIGTERM, SIGINT, or when its supervisor is gone. Exit code 1 where it can't start. */
export async function runProcess(
  name: string,
  start: (config: Config, logger: Logger) => Promise<RunningProcess>,
): Promise<void> {
  try {
    const config = readConfig();
    const logger = createLogger(name, config.logLevel);
    const running = await start(config, logger);
    logger.info('up');
    onEnd((reason) => {
      logger.info({ reason }, 'stopping');
      void running.stop().then(
        () => process.exit(0),
        (error: unknown) => {
          logger.error({ err: error }, 'did not stop in order');
          process.exit(1);
        },
      );
    });
  } catch (error) {
    console.error(error instanceof Error ? `${name}: ${error.message}` : error);
    process.exit(1);
  }
}

function onEnd(stop: (reason: string) => void): void {
  let stopping = false;
  const once = (reason: string): void => {
    if (stopping) return;
    stopping = true;
    stop(reason);
  };
  process.on('SIGTERM', once);
  process.on('SIGINT', once);
  exitWithParent(() => once('the supervisor is gone'));
}

// Composition root of `npm start`: one supervisor for Postgres, Temporal, and our own processes.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../config.ts';
import { listenForStop } from '../supervisor/stop-request.ts';
import { supervise } from '../supervisor/supervise.ts';

/**
 * Runs until Ctrl-C or SIGTERM and ends the process: 0 after an orderly stop, 1 with a sentence when it can't start.
 * `temporalCli`: absolute path of the Temporal CLI; not needed where TEMPORAL_ADDRESS is set.
 */
export async function start(temporalCli: string | undefined): Promise<never> {
  try {
    await supervise(readConfig(), {
      binFolder: dirname(fileURLToPath(import.meta.url)),
      temporalCli,
      show: (text) => console.log(text),
      request: listenForStop(),
    });
    process.exit(0);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}

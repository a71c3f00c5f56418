// Composition root of the worker's process: activities, workflows, relay and sweep.
import { checkedBundlePath } from '../worker/workflow-bundle.ts';
import { startWorker } from '../worker/start-worker.ts';
import { runProcess } from './run-process.ts';

await runProcess('worker', async (config, logger) => {
  const bundle = await checkedBundlePath(new URL('../', import.meta.url));
  const worker = await startWorker(config, logger, bundle);
  worker.ended.catch((error: unknown) => {
    logger.fatal({ err: error }, 'the engine side of the worker broke');
    process.exit(1);
  });
  return worker;
});

// Composition root of the worker's process: activities, workflows, relay and sweep.
import { checkedBundlePath } from '../worker/workflow-bundle.ts';
import type { Config } from '../config.ts';
import { watchCrashPoints } from '../rig/crash-points.ts';
import { after, faultyAdapter, faultyStarter } from '../rig/faulty-parts.ts';
import { startWorker, type WorkerFaults } from '../worker/start-worker.ts';
import { runProcess } from './run-process.ts';

await runProcess('worker', async (config, logger) => {
  const bundle = await checkedBundlePath(new URL('../', import.meta.url));
  const worker = await startWorker(
    config,
    logger,
    bundle,
    config.rig ? faultsOf(config) : undefined,
  );
  worker.ended.catch((error: unknown) => {
    logger.fatal({ err: error }, 'the engine side of the worker broke');
    process.exit(1);
  });
  return worker;
});

function faultsOf({ home }: Config): WorkerFaults {
  const points = watchCrashPoints(home);
  return {
    adapter: (adapter) => faultyAdapter(adapter, points),
    starter: (starter) => faultyStarter(starter, points),
    activities: (activities) => ({
      ...activities,
      // The outcome stands in the register, and the workflow hasn't heard of it.
      dispatch: after(
        () => points.reach('after_outcome_commit'),
        (...input) => activities.dispatch(...input),
      ),
    }),
  };
}

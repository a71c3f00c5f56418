// The anchor's workflows: one activity that does nothing, at once or after a signal.
import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';

const { nothing, now } = proxyActivities({
  startToCloseTimeout: '30 seconds',
  retry: { maximumAttempts: 1 },
});

export async function bare() {
  await nothing();
}

/** Answers when its activity ran (Unix milliseconds). */
export async function signaled() {
  let told = false;
  setHandler(defineSignal('go'), () => {
    told = true;
  });
  await condition(() => told);
  return now();
}

// The anchor's workflow: one activity that does nothing.
import { proxyActivities } from '@temporalio/workflow';

const { nothing } = proxyActivities({
  startToCloseTimeout: '30 seconds',
  retry: { maximumAttempts: 1 },
});

export async function bare() {
  await nothing();
}

// How each class of activity is called. Writes to a provider run once; everything else may run as often as it takes.
import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { ExecutionPlan } from '../domain/execution-plan.ts';
import type { OperationActivities } from './activities.contract.ts';

/** Beyond the provider's deadline: reading, committing the intent, and storing the answer through a short outage. */
const AROUND_THE_CALL_MS = 20_000;

/** A lost worker is noticed this much after its last heartbeat (one every 5 s). */
const HEARTBEAT_TIMEOUT_MS = 15_000;

/** The activities that write to the provider, as the plan wants them run. The engine never repeats them by itself. */
export function providerWrites(
  plan: ExecutionPlan,
): Pick<OperationActivities, 'dispatch' | 'resend'> {
  const startToCloseTimeout = plan.provider_deadline_ms + AROUND_THE_CALL_MS;
  const retry = { maximumAttempts: 1 };
  const summary = 'writes at the provider: run once';
  return plan.dispatch === 'local'
    ? proxyLocalActivities<OperationActivities>({ startToCloseTimeout, retry, summary })
    : proxyActivities<OperationActivities>({
        startToCloseTimeout,
        retry,
        summary,
        heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
      });
}

/** Lookups and our own records: safe to repeat, so they are repeated until they work. */
export const repeatable = proxyActivities<OperationActivities>({
  summary: 'safe to repeat',
  startToCloseTimeout: '30 seconds',
  retry: {
    initialInterval: '500 milliseconds',
    backoffCoefficient: 2,
    maximumInterval: '30 seconds',
  },
});

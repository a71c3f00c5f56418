// Settles a lost or late answer by asking the provider, never by guessing. It owns all that happens after an unknown outcome, the one
// allowed resend included, and ends when the operation is settled or with a person.
import { ActivityFailure, CancellationScope, sleep } from '@temporalio/workflow';
import type { DispatchStep, OperationInput } from './activities.contract.ts';
import { providerWrites, repeatable } from './activity-options.ts';

export async function reconcileOperation(input: OperationInput): Promise<void> {
  await CancellationScope.nonCancellable(() => lookUntilSettled(input));
}

async function lookUntilSettled(input: OperationInput): Promise<void> {
  const firstLookMs = input.plan.reconcile.first_look_ms;
  let waitMs = firstLookMs;
  for (;;) {
    await sleep(waitMs, { summary: 'until the next look' });
    const step = await repeatable.lookUpOutcome(input);
    switch (step.next) {
      case 'done':
        return;
      case 'look':
        waitMs = step.in_ms;
        break;
      case 'resend':
        await resendOnce(input);
        waitMs = firstLookMs;
        break;
    }
  }
}

/** Whatever came of it, the next look finds it: in our ledger first, then at the provider. */
async function resendOnce(input: OperationInput): Promise<void> {
  try {
    const step: DispatchStep = await providerWrites(input.plan).resend(input);
    if (step.next === 'record') await repeatable.recordOutcome(input, step.attempt, step.outcome);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
  }
}

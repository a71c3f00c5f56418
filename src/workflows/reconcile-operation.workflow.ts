// Settles a lost or late answer by asking the provider, never by guessing. It owns all that happens after an unknown outcome, the one
// allowed resend included, and ends when the operation is settled or with a person.
import { CancellationScope, TemporalFailure } from '@temporalio/workflow';
import type { DispatchStep, OperationInput, RowSeen } from './activities.contract.ts';
import { providerWrites, repeatable } from './activity-options.ts';
import { MOST_STEPS_OF_A_RUN } from './run-length.ts';
import { showStart, showStep } from './visible.ts';
import { listen, type WakeUp } from './wake-up.ts';

/** Answers how it stands at the end, for the run that waits for it. */
export async function reconcileOperation(input: OperationInput): Promise<RowSeen | undefined> {
  const wakeUp = listen();
  showStart(input);
  const row = await CancellationScope.nonCancellable(() => lookUntilSettled(input, wakeUp));
  return row;
}

async function lookUntilSettled(
  input: OperationInput,
  wakeUp: WakeUp,
): Promise<RowSeen | undefined> {
  const firstLookMs = input.plan.reconcile.first_look_ms;
  let waitMs = firstLookMs;
  for (let made = 0; made < MOST_STEPS_OF_A_RUN; made++) {
    await wakeUp.sleep(waitMs, 'until the next look');
    const step = await repeatable.lookUpOutcome(input);
    showStep(input, step);
    switch (step.next) {
      case 'done':
        return step.row;
      case 'look':
        waitMs = step.in_ms;
        break;
      case 'resend':
        waitMs = (await resendOnce(input)) ?? firstLookMs;
        break;
    }
  }
  return undefined;
}

/** Whatever came of it, the next look finds it: in our ledger first, then at the provider. Answers when to look if it was held. */
async function resendOnce(input: OperationInput): Promise<number | undefined> {
  try {
    const step: DispatchStep = await providerWrites(input.plan).resend(input);
    if (step.next === 'held') showStep(input, step);
    if (step.next === 'record') await repeatable.recordOutcome(input, step.attempt, step.outcome);
    return step.next === 'held' ? step.in_ms : undefined;
  } catch (error) {
    if (error instanceof TemporalFailure) return undefined;
    throw error;
  }
}

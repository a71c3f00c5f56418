// One operation, from its claim to its end: wait for a person where one must decide, send, and hand an open outcome over to
// reconciliation. The row decides what is left to do, so a run that starts anew goes on where the last one stopped.
import {
  CancellationScope,
  executeChild,
  ParentClosePolicy,
  TemporalFailure,
  workflowInfo,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import { reconcileWorkflowIdFor } from '../domain/reconcile-workflow-id.ts';
import type { DispatchStep, OperationInput } from './activities.contract.ts';
import { providerWrites, repeatable } from './activity-options.ts';
import { listenForDecisions } from './decisions.ts';
import { reconcileOperation } from './reconcile-operation.workflow.ts';
import { MOST_STEPS_OF_A_RUN } from './run-length.ts';
import { showEnd, showStart, showStep } from './visible.ts';
import { listen, type WakeUp } from './wake-up.ts';

/** Pauses while the database can't be reached: nothing is sent meanwhile, and nothing needs to be quick. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

export async function executeOperation(input: OperationInput): Promise<void> {
  const wakeUp = listen();
  const decisions = listenForDecisions(input, wakeUp);
  showStart(input);
  // Once something may have been sent, a cancellation from outside must not leave it unsettled.
  await CancellationScope.nonCancellable(async () => {
    const handedOver = decisions.handOver();
    if (input.plan.awaits_approval) await awaitDecision(input, wakeUp);
    const open = await sendUntilAnswered(input, wakeUp);
    if (open) await reconcile(input);
    decisions.close();
    await handedOver;
  });
}

/**
 * Ends when a decision came, when the offer is over, or when somebody wants the row looked at. False where there was nothing to
 * wait for.
 */
async function awaitDecision(input: OperationInput, wakeUp: WakeUp): Promise<boolean> {
  const waitMs = await repeatable.approvalWait(input);
  if (waitMs === null) return false;
  await wakeUp.sleep(waitMs, 'waiting for a decision');
  return true;
}

/** Cancel in Temporal Web: before the intent it cancels the operation, after it the row no longer allows it. */
async function cancelIfAsked(input: OperationInput, wakeUp: WakeUp): Promise<void> {
  if (wakeUp.cancelAsked()) await repeatable.cancelBeforeIntent(input);
}

/** True where the outcome is open, false where nothing is left to do here. */
async function sendUntilAnswered(input: OperationInput, wakeUp: WakeUp): Promise<boolean> {
  let attempt = 1;
  let unreadable = 0;
  let pauseMs = FIRST_PAUSE_MS;
  for (let made = 0; made < MOST_STEPS_OF_A_RUN; made++) {
    await cancelIfAsked(input, wakeUp);
    const step = await dispatchOnce(input, attempt, unreadable);
    showStep(input, step);
    switch (step.next) {
      case 'done':
        return false;
      case 'reconcile':
        return true;
      case 'retry':
        attempt = step.attempt + 1;
        await wakeUp.sleep(delayAfter(input, step.attempt), 'refused, trying again');
        break;
      case 'held':
        await wakeUp.sleep(step.in_ms, 'held by an operator');
        break;
      case 'unreadable':
        unreadable += 1;
        await wakeUp.sleep(delayAfter(input, unreadable), 'the target could not be read');
        break;
      case 'await_approval':
      case 'again':
        if (step.next === 'await_approval' && (await awaitDecision(input, wakeUp))) break;
        await wakeUp.sleep(pauseMs, 'the row could not be read');
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
        break;
    }
  }
  return false;
}

function delayAfter({ plan }: OperationInput, attempt: number): number {
  return plan.refusal_delays_ms[attempt - 1] ?? plan.refusal_delays_ms.at(-1) ?? 0;
}

type SettledStep = Exclude<DispatchStep, { next: 'record' }>;

/** A dispatch that failed or timed out has told us nothing: asked again, it finds in the ledger what it did. */
async function dispatchOnce(
  input: OperationInput,
  attempt: number,
  unreadable: number,
): Promise<SettledStep> {
  try {
    const step = await providerWrites(input.plan).dispatch(input, attempt, unreadable);
    return step.next === 'record' ? await recorded(input, step) : step;
  } catch (error) {
    // A local activity's failure comes bare, a regular one's inside an ActivityFailure: this is what both are.
    if (error instanceof TemporalFailure) return { next: 'again' };
    throw error;
  }
}

async function recorded(
  input: OperationInput,
  { attempt, outcome }: Extract<DispatchStep, { next: 'record' }>,
): Promise<SettledStep> {
  const step = await repeatable.recordOutcome(input, attempt, outcome);
  return step.next === 'record' ? { next: 'again' } : step;
}

/** Waits for the child so that an operation has one run to look at; the child outlives it if it must. */
async function reconcile(input: OperationInput): Promise<void> {
  try {
    const row = await executeChild(reconcileOperation, {
      workflowId: reconcileWorkflowIdFor(input.account_id, input.operation_id),
      args: [input],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      staticSummary: `settling a lost answer of ${input.operation_id}`,
      typedSearchAttributes: workflowInfo().typedSearchAttributes,
    });
    showEnd(input, row);
  } catch {
    // Already started means handed over. A child that was terminated is started again by the sweep.
  }
}

// One operation, from its claim to its end: wait for a person where one must decide, send, and hand an open outcome over to
// reconciliation. The row decides what is left to do, so a run that starts anew goes on where the last one stopped.
import {
  ActivityFailure,
  CancellationScope,
  executeChild,
  ParentClosePolicy,
  sleep,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import { reconcileWorkflowIdFor } from '../domain/reconcile-workflow-id.ts';
import type { DispatchStep, OperationInput } from './activities.contract.ts';
import { providerWrites, repeatable } from './activity-options.ts';
import { reconcileOperation } from './reconcile-operation.workflow.ts';

/** Pauses while the database can't be reached: nothing is sent meanwhile, and nothing needs to be quick. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

export async function executeOperation(input: OperationInput): Promise<void> {
  // Once something may have been sent, a cancellation from outside must not leave it unsettled.
  await CancellationScope.nonCancellable(async () => {
    if (input.plan.awaits_approval) await awaitApproval(input);
    const open = await sendUntilAnswered(input);
    if (open) await reconcile(input);
  });
}

async function awaitApproval(input: OperationInput): Promise<void> {
  for (;;) {
    const waitMs = await repeatable.approvalWait(input);
    if (waitMs === null) return;
    await sleep(waitMs, { summary: 'waiting for a decision' });
  }
}

/** True where the outcome is open, false where nothing is left to do. */
async function sendUntilAnswered(input: OperationInput): Promise<boolean> {
  const delays = input.plan.refusal_delays_ms;
  let attempt = 1;
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    const step = await dispatchOnce(input, attempt);
    switch (step.next) {
      case 'done':
        return false;
      case 'reconcile':
        return true;
      case 'retry':
        attempt = step.attempt + 1;
        await sleep(delays[step.attempt - 1] ?? 0, { summary: 'refused, trying again' });
        break;
      case 'again':
        await sleep(pauseMs);
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
        break;
    }
  }
}

type SettledStep = Exclude<DispatchStep, { next: 'record' }>;

/** A dispatch that failed or timed out has told us nothing: asked again, it finds in the ledger what it did. */
async function dispatchOnce(input: OperationInput, attempt: number): Promise<SettledStep> {
  try {
    const step = await providerWrites(input.plan).dispatch(input, attempt);
    return step.next === 'record' ? await recorded(input, step) : step;
  } catch (error) {
    if (error instanceof ActivityFailure) return { next: 'again' };
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
    await executeChild(reconcileOperation, {
      workflowId: reconcileWorkflowIdFor(input.account_id, input.operation_id),
      args: [input],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      staticSummary: `settling a lost answer of ${input.operation_id}`,
    });
  } catch {
    // Already started means handed over. A child that was terminated is started again by the sweep.
  }
}

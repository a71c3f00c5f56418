// One look of reconciliation: our own ledger first, then the provider; the finding and what follows from it in one transaction.
import { isSettled } from '../domain/operation-state.ts';
import type { OperationFile } from '../domain/operation.ts';
import { judgeLook } from '../domain/reconciliation.ts';
import { openReconciliation, recordLook } from '../store/looks.store.ts';
import { readFile } from '../store/operations.store.ts';
import type { LookStep, OperationActivities } from '../workflows/activities.contract.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { observeCall, observeLook, observeReconciled } from './observe.ts';
import { contactFor } from './provider-contact.ts';
import { rowSeen } from './row-seen.ts';
import { traceActivity } from './traced.ts';

/** A read that takes longer is asked again later; nothing is lost by giving up on it. */
const LOOKUP_DEADLINE_MS = 10_000;

export function createLookUpOutcome(
  deps: ActivityDependencies,
): OperationActivities['lookUpOutcome'] {
  return async ({ operation_id }) => {
    const file = await openReconciliation(deps.pool, operation_id);
    if (!file) return endedElsewhere(deps, operation_id);
    return traceActivity(deps, 'look up', file, () => lookAt(deps, file));
  };
}

async function lookAt(deps: ActivityDependencies, file: OperationFile): Promise<LookStep> {
  const { operationId } = file.operation;
  const look = await lookUp(deps, file);
  const { answer } = look;
  // Not durable yet: if this process ends now, the look is simply made again.
  const judged = await recordLook(deps.pool, operationId, answer, (situation) =>
    judgeLook(answer, situation),
  );
  observeLook(deps, file, judged.file, look);
  const step = stepAfterLook(judged);
  // One that is with a person was counted when it came there.
  const wasOpen = file.operation.status !== 'NEEDS_REVIEW';
  if (step.next === 'done' && wasOpen) observeReconciled(deps, judged.file);
  return step;
}

/** An event, a late answer or a person was quicker. */
async function endedElsewhere(deps: ActivityDependencies, operationId: string): Promise<LookStep> {
  const file = await readFile(deps.pool, operationId);
  if (file && wasReconciled(file)) observeReconciled(deps, file);
  return file ? { next: 'done', row: rowSeen(file.operation) } : { next: 'done' };
}

/** Asked about an operation that never was open to question, there was nothing to reconcile. */
function wasReconciled({ operation, attempts }: OperationFile): boolean {
  return operation.unknownSince !== null || attempts.at(-1)?.outcome === 'pending';
}

async function lookUp(deps: ActivityDependencies, { operation, attempts }: OperationFile) {
  const provider = deps.providers(operation.connection);
  const requestBody = attempts[0] ? attempts[0].requestBody : '';
  const number = attempts.at(-1)?.number;
  return observeCall(deps, operation, 'lookup', number, (traceparent) => {
    const contact = { requestBody, deadlineMs: LOOKUP_DEADLINE_MS, traceparent };
    return provider.adapter.lookUp(contactFor(operation, provider, contact));
  });
}

function stepAfterLook({ file, step }: Awaited<ReturnType<typeof recordLook>>): LookStep {
  const { status } = file.operation;
  const row = rowSeen(file.operation);
  if (isSettled(status) || status === 'NEEDS_REVIEW') return { next: 'done', row };
  if (step.next === 'look') return { next: 'look', in_ms: step.inMs, row };
  if (step.next === 'resend') return { next: 'resend', row };
  throw new Error(`a look judged ${step.next} left ${status} open`);
}

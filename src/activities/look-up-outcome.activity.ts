// One look of reconciliation: our own ledger first, then the provider; the finding and what follows from it in one transaction.
import { isSettled } from '../domain/operation-state.ts';
import type { OperationFile } from '../domain/operation.ts';
import { judgeLook } from '../domain/reconciliation.ts';
import { openReconciliation, recordLook } from '../store/looks.store.ts';
import type { LookStep, OperationActivities } from '../workflows/activities.contract.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { contactFor } from './provider-contact.ts';

/** A read that takes longer is asked again later; nothing is lost by giving up on it. */
const LOOKUP_DEADLINE_MS = 10_000;

export function createLookUpOutcome(
  deps: ActivityDependencies,
): OperationActivities['lookUpOutcome'] {
  return async ({ operation_id }) => {
    const file = await openReconciliation(deps.pool, operation_id);
    if (!file) return { next: 'done' };
    const answer = await lookUp(deps, file);
    // Not durable yet: if this process ends now, the look is simply made again.
    const judged = await recordLook(deps.pool, operation_id, answer, (situation) =>
      judgeLook(answer, situation),
    );
    logLook(deps, judged.file, answer.status);
    return stepAfterLook(judged);
  };
}

async function lookUp(deps: ActivityDependencies, { operation, attempts }: OperationFile) {
  const provider = deps.providers(operation.connection);
  const requestBody = attempts[0]?.requestBody ?? '';
  return provider.adapter.lookUp(contactFor(operation, provider, requestBody, LOOKUP_DEADLINE_MS));
}

function stepAfterLook({ file, step }: Awaited<ReturnType<typeof recordLook>>): LookStep {
  const { status } = file.operation;
  if (isSettled(status) || status === 'NEEDS_REVIEW') return { next: 'done' };
  if (step.next === 'look') return { next: 'look', in_ms: step.inMs };
  if (step.next === 'resend') return { next: 'resend' };
  throw new Error(`a look judged ${step.next} left ${status} open`);
}

function logLook(
  { logger }: ActivityDependencies,
  { operation }: OperationFile,
  answer: string,
): void {
  logger.info(
    { operation_id: operation.operationId, lookup: answer, state: operation.status },
    'looked up',
  );
}

// What an outcome does to an operation: the one place that turns provider answers into states (contract §2 and §6).
import { onlyRefused, type Attempt, type Operation, type ReviewReason } from './operation.ts';
import { operationProblem, type OperationProblem } from './operation-problem.ts';
import { isOutcomeOpen, isSettled, type OperationState } from './operation-state.ts';
import type { OperationResult, WriteOutcome } from './outcome.ts';

/** A change of state with what it carries; `undefined` members stay as they are. */
export interface Change {
  readonly to: OperationState;
  readonly result?: OperationResult;
  readonly error?: OperationProblem;
  readonly providerReference?: string;
  readonly reviewReason?: ReviewReason;
  /** The person whose decision it is. */
  readonly resolvedBy?: string;
}

/** A definite outcome, from the answer to a write or from a lookup. */
export type Definite =
  | { readonly status: 'succeeded'; readonly reference: string; readonly result: OperationResult }
  | { readonly status: 'failed'; readonly error: OperationProblem };

function settled(definite: Definite): Change {
  return definite.status === 'succeeded'
    ? { to: 'SUCCEEDED', result: definite.result, providerReference: definite.reference }
    : { to: 'FAILED', error: definite.error };
}

/**
 * What definite evidence does. An open operation is settled by it, so is one that only the deadline sent to a person. A settled one
 * that it contradicts goes to a person; where it says the same again, nothing changes.
 */
export function changeByDefinite(operation: Operation, definite: Definite): Change | undefined {
  const { status, reviewReason } = operation;
  if (isOutcomeOpen(status)) return settled(definite);
  if (status === 'NEEDS_REVIEW') {
    return reviewReason === 'reconcile_deadline' ? settled(definite) : undefined;
  }
  const agrees = status === (definite.status === 'succeeded' ? 'SUCCEEDED' : 'FAILED');
  // Nothing was done and nothing happened: a failure is no news to an operation that was refused before it was sent.
  const says = definite.status === 'failed' && isSettled(status) && status !== 'SUCCEEDED';
  if (agrees && isOtherEffect(operation, definite)) return contradiction();
  if (agrees || says || !isSettled(status)) return undefined;
  return contradiction(definite.status === 'succeeded' ? definite.reference : undefined);
}

function contradiction(reference?: string): Change {
  return {
    to: 'NEEDS_REVIEW',
    error: operationProblem('evidence_contradicts'),
    reviewReason: 'evidence_contradicts',
    ...(reference === undefined ? {} : { providerReference: reference }),
  };
}

/** One effect is known as done, and the provider shows another: perhaps there are two. */
function isOtherEffect({ providerReference }: Operation, definite: Definite): boolean {
  if (providerReference === null) return false;
  return definite.status === 'succeeded' && definite.reference !== providerReference;
}

/**
 * What sends an operation to a person without a definite outcome. An open one always goes; one that SUCCEEDED
 * goes where the provider shows two effects, one that a person settled as FAILED where it shows any.
 */
export function changeByReview(operation: Operation, reason: ReviewReason): Change | undefined {
  if (isOutcomeOpen(operation.status)) {
    return { to: 'NEEDS_REVIEW', reviewReason: reason, error: operationProblem(reason) };
  }
  const twoEffects = reason === 'effect_ambiguous';
  if (operation.status === 'SUCCEEDED') return twoEffects ? contradiction() : undefined;
  const showsEffect = twoEffects || reason === 'effect_contrary';
  const denied = operation.status === 'FAILED' && operation.resolvedBy !== null;
  return showsEffect && denied ? contradiction() : undefined;
}

/**
 * What the answer to an attempt does. `attempts` holds all of them, this one with its outcome. A late failure of an older attempt is
 * evidence only; a success of any attempt counts.
 */
export function changeByAttempt(
  operation: Operation,
  attempts: readonly Attempt[],
  number: number,
  outcome: WriteOutcome,
): Change | undefined {
  switch (outcome.status) {
    case 'succeeded':
      return changeByDefinite(operation, outcome);
    case 'failed':
      return number === attempts.at(-1)?.number ? changeByDefinite(operation, outcome) : undefined;
    case 'unknown':
      return operation.status === 'IN_PROGRESS' ? { to: 'UNKNOWN' } : undefined;
    case 'not_sent':
      return refusalsExhausted(operation, attempts)
        ? { to: 'FAILED', error: operationProblem('provider_unavailable') }
        : undefined;
    case 'pending':
      return undefined;
  }
}

/** A refusal decides only while no attempt says anything else: then the last allowed one means that nothing was done. */
function refusalsExhausted(operation: Operation, attempts: readonly Attempt[]): boolean {
  if (operation.status !== 'IN_PROGRESS' || !onlyRefused(attempts)) return false;
  return attempts.length > operation.plan.refusal_delays_ms.length;
}

/**
 * What a lost grant does before a send: nothing was sent yet → REJECTED; only definite refusals → FAILED; else a person must look
 * (contract §7).
 */
export function changeByLostGrant({ attempts }: { attempts: readonly Attempt[] }): Change {
  const error = operationProblem('grant_revoked');
  if (attempts.length === 0) return { to: 'REJECTED', error };
  return onlyRefused(attempts)
    ? { to: 'FAILED', error }
    : { to: 'NEEDS_REVIEW', reviewReason: 'grant_revoked', error };
}

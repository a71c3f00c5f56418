// The states of an operation and the moves between them: the public contract §2 as data. docs/state-machine.md is generated from it.

export const OPERATION_STATES = [
  'PENDING',
  'AWAITING_APPROVAL',
  'IN_PROGRESS',
  'UNKNOWN',
  'RECONCILING',
  'NEEDS_REVIEW',
  'SUCCEEDED',
  'FAILED',
  'REJECTED',
  'EXPIRED',
  'CANCELED',
] as const;

export type OperationState = (typeof OPERATION_STATES)[number];

/**
 * Where each state may go. FAILED means evidence that it did not happen; a lost answer is UNKNOWN. The one edge out of a settled
 * state is provider evidence that contradicts it, and it leads to a person.
 */
export const TRANSITIONS: Readonly<Record<OperationState, readonly OperationState[]>> = {
  PENDING: ['IN_PROGRESS', 'CANCELED', 'REJECTED', 'FAILED', 'AWAITING_APPROVAL', 'NEEDS_REVIEW'],
  AWAITING_APPROVAL: ['IN_PROGRESS', 'REJECTED', 'EXPIRED', 'CANCELED', 'FAILED', 'NEEDS_REVIEW'],
  IN_PROGRESS: ['SUCCEEDED', 'FAILED', 'UNKNOWN', 'NEEDS_REVIEW'],
  UNKNOWN: ['RECONCILING', 'SUCCEEDED', 'FAILED', 'NEEDS_REVIEW'],
  RECONCILING: ['SUCCEEDED', 'FAILED', 'NEEDS_REVIEW'],
  NEEDS_REVIEW: ['SUCCEEDED', 'FAILED'],
  SUCCEEDED: ['NEEDS_REVIEW'],
  FAILED: ['NEEDS_REVIEW'],
  REJECTED: ['NEEDS_REVIEW'],
  EXPIRED: ['NEEDS_REVIEW'],
  CANCELED: ['NEEDS_REVIEW'],
};

const SETTLED: ReadonlySet<OperationState> = new Set([
  'SUCCEEDED',
  'FAILED',
  'REJECTED',
  'EXPIRED',
  'CANCELED',
]);

/** True where the contract allows the move. */
export function mayMove(from: OperationState, to: OperationState): boolean {
  return TRANSITIONS[from].includes(to);
}

/** True where the stored bytes exist and are replayed. */
export function isSettled(state: OperationState): boolean {
  return SETTLED.has(state);
}

/** True from the first intent until the outcome is settled or with a person. */
export function isOutcomeOpen(state: OperationState): boolean {
  return state === 'IN_PROGRESS' || state === 'UNKNOWN' || state === 'RECONCILING';
}

/** True where nothing happened, so that business key, lock and reservation are given back. */
export function releasesClaims(state: OperationState): boolean {
  return isSettled(state) && state !== 'SUCCEEDED';
}

/** True where a waiting caller is answered: nothing more happens, or not without a person. */
export function isRestingPlace(state: OperationState): boolean {
  return isSettled(state) || state === 'AWAITING_APPROVAL' || state === 'NEEDS_REVIEW';
}

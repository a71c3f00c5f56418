import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import {
  isRestingPlace,
  isSettled,
  mayMove,
  OPERATION_STATES,
  releasesClaims,
  TRANSITIONS,
  type OperationState,
} from '../../src/domain/operation-state.ts';

/** The table of contract §2, written out again, so that a changed line in the source is seen. */
const CONTRACT: Readonly<Record<string, string>> = {
  PENDING: 'IN_PROGRESS CANCELED REJECTED FAILED AWAITING_APPROVAL NEEDS_REVIEW',
  AWAITING_APPROVAL: 'IN_PROGRESS REJECTED EXPIRED CANCELED FAILED NEEDS_REVIEW',
  IN_PROGRESS: 'SUCCEEDED FAILED UNKNOWN NEEDS_REVIEW',
  UNKNOWN: 'RECONCILING SUCCEEDED FAILED NEEDS_REVIEW',
  RECONCILING: 'SUCCEEDED FAILED NEEDS_REVIEW',
  NEEDS_REVIEW: 'SUCCEEDED FAILED',
  SUCCEEDED: 'NEEDS_REVIEW',
  FAILED: 'NEEDS_REVIEW',
  REJECTED: 'NEEDS_REVIEW',
  EXPIRED: 'NEEDS_REVIEW',
  CANCELED: 'NEEDS_REVIEW',
};
const SETTLED = ['SUCCEEDED', 'FAILED', 'REJECTED', 'EXPIRED', 'CANCELED'];

const anyState = fc.constantFrom(...OPERATION_STATES);

describe('the states of an operation', () => {
  it('are those of the contract', () => {
    expect([...OPERATION_STATES].toSorted()).toEqual(Object.keys(CONTRACT).toSorted());
  });

  it.each(OPERATION_STATES)('lead from %s where the contract says, and nowhere else', (from) => {
    const allowed = OPERATION_STATES.filter((to) => mayMove(from, to));
    expect(allowed.toSorted()).toEqual(CONTRACT[from]?.split(' ').toSorted());
  });

  it('can all be reached from a claim, which starts as PENDING or AWAITING_APPROVAL', () => {
    const reached = new Set<OperationState>(['PENDING', 'AWAITING_APPROVAL']);
    for (const state of reached) for (const to of TRANSITIONS[state]) reached.add(to);
    expect([...reached].toSorted()).toEqual([...OPERATION_STATES].toSorted());
  });

  it('all lead on to a settled one', () => {
    const settles = (from: OperationState, seen: readonly OperationState[] = []): boolean =>
      isSettled(from) ||
      TRANSITIONS[from].some((to) => !seen.includes(to) && settles(to, [...seen, from]));
    expect(OPERATION_STATES.filter((state) => !settles(state))).toEqual([]);
  });

  it('are settled or not as the contract says', () => {
    expect(OPERATION_STATES.filter(isSettled).toSorted()).toEqual(SETTLED.toSorted());
  });

  it('are left, once settled, for a person only', () => {
    for (const state of OPERATION_STATES.filter(isSettled)) {
      expect(TRANSITIONS[state]).toEqual(['NEEDS_REVIEW']);
    }
  });

  it('give the claims back where nothing happened, and only there', () => {
    expect(OPERATION_STATES.filter(releasesClaims).toSorted()).toEqual(
      ['FAILED', 'REJECTED', 'EXPIRED', 'CANCELED'].toSorted(),
    );
  });

  it('answer a waiting caller where they are settled or wait for a person', () => {
    expect(OPERATION_STATES.filter(isRestingPlace).toSorted()).toEqual(
      [...SETTLED, 'AWAITING_APPROVAL', 'NEEDS_REVIEW'].toSorted(),
    );
  });

  it('never lead back to before the send once it was made', () => {
    const before = new Set(['PENDING', 'AWAITING_APPROVAL']);
    fc.assert(
      fc.property(anyState, anyState, (from, to) => {
        if (!before.has(from) && mayMove(from, to)) expect(before).not.toContain(to);
      }),
    );
  });

  it('have no move to themselves', () => {
    expect(OPERATION_STATES.filter((state) => mayMove(state, state))).toEqual([]);
  });
});

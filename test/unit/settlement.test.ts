// The examples walk through every branch; the properties run random histories of one operation through the same functions that worker
// and store use, with answers that come late, twice and out of order.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideDispatch, mayResend } from '../../src/domain/dispatch-decision.ts';
import { onlyRefused, type Attempt, type Operation } from '../../src/domain/operation.ts';
import {
  isSettled,
  mayMove,
  OPERATION_STATES,
  type OperationState,
} from '../../src/domain/operation-state.ts';
import type { WriteOutcome } from '../../src/domain/outcome.ts';
import { changeByAttempt, changeByDefinite, type Change } from '../../src/domain/settlement.ts';
import { attemptOf, operationOf, OUTCOMES } from '../support/operation-file.ts';

const { succeeded, failed } = OUTCOMES;
const OPEN = ['IN_PROGRESS', 'UNKNOWN', 'RECONCILING'] as const;
const NOTHING_DONE = ['FAILED', 'REJECTED', 'EXPIRED', 'CANCELED'] as const;

const at = (status: OperationState, members: Partial<Operation> = {}) =>
  operationOf({ status, ...members });

const refused = (count: number) =>
  Array.from({ length: count }, (_, n) => attemptOf(n + 1, 'not_sent'));

describe('definite evidence', () => {
  it.each(OPEN)('of a success settles %s with result and reference', (status) => {
    expect(changeByDefinite(at(status), succeeded)).toEqual({
      to: 'SUCCEEDED',
      result: succeeded.result,
      providerReference: 'pay_1',
    });
  });

  it.each(OPEN)('of a failure settles %s with the reason', (status) => {
    expect(changeByDefinite(at(status), failed)).toEqual({ to: 'FAILED', error: failed.error });
  });

  it('settles what only the deadline brought to a person', () => {
    const review = at('NEEDS_REVIEW', { reviewReason: 'reconcile_deadline' });
    expect(changeByDefinite(review, succeeded)?.to).toBe('SUCCEEDED');
    expect(changeByDefinite(review, failed)?.to).toBe('FAILED');
  });

  it.each([
    'evidence_contradicts',
    'effect_ambiguous',
    'effect_contrary',
    'provider_parameter_mismatch',
    'provider_token_in_use',
    'absence_not_proven',
    'command_changed',
  ] as const)('leaves to the person what came there by %s', (reviewReason) => {
    const review = at('NEEDS_REVIEW', { reviewReason });
    expect(changeByDefinite(review, succeeded)).toBeUndefined();
    expect(changeByDefinite(review, failed)).toBeUndefined();
  });

  it.each(NOTHING_DONE)('of a success after %s goes to a person, with the reference', (status) => {
    expect(changeByDefinite(at(status), succeeded)).toMatchObject({
      to: 'NEEDS_REVIEW',
      reviewReason: 'evidence_contradicts',
      error: { code: 'evidence_contradicts' },
      providerReference: 'pay_1',
    });
  });

  it.each(NOTHING_DONE)('of a failure after %s says nothing new', (status) => {
    expect(changeByDefinite(at(status), failed)).toBeUndefined();
  });

  it('of a failure after a success goes to a person, and keeps the reference', () => {
    const change = changeByDefinite(at('SUCCEEDED', { providerReference: 'pay_1' }), failed);
    expect(change).toMatchObject({ to: 'NEEDS_REVIEW', reviewReason: 'evidence_contradicts' });
    expect(change).not.toHaveProperty('providerReference');
  });

  it('of the same success again says nothing new', () => {
    const done = at('SUCCEEDED', { providerReference: succeeded.reference });
    expect(changeByDefinite(done, succeeded)).toBeUndefined();
  });

  it('of a second success with another reference is two effects, and goes to a person', () => {
    const done = at('SUCCEEDED', { providerReference: 'pay_0' });
    expect(changeByDefinite(done, succeeded)).toMatchObject({ to: 'NEEDS_REVIEW' });
  });

  it.each(['PENDING', 'AWAITING_APPROVAL'] as const)('never settles %s', (status) => {
    expect(changeByDefinite(at(status), failed)).toBeUndefined();
    expect(changeByDefinite(at(status), succeeded)).toBeUndefined();
  });
});

describe('the answer to an attempt', () => {
  const one = [attemptOf(1, 'unknown')];
  const two = [attemptOf(1, 'unknown'), attemptOf(2, 'failed', { purpose: 'resend' })];

  it('moves a running operation to UNKNOWN where it was lost', () => {
    expect(changeByAttempt(at('IN_PROGRESS'), one, 1, OUTCOMES.unknown)).toEqual({ to: 'UNKNOWN' });
  });

  it.each(OPERATION_STATES.filter((state) => state !== 'IN_PROGRESS'))(
    'changes nothing in %s where it was lost',
    (status) => {
      expect(changeByAttempt(at(status), one, 1, OUTCOMES.unknown)).toBeUndefined();
    },
  );

  it.each(OPERATION_STATES)(
    'changes nothing in %s where the outcome is still to come',
    (status) => {
      const attempts = [attemptOf(1, 'pending')];
      expect(changeByAttempt(at(status), attempts, 1, OUTCOMES.pending)).toBeUndefined();
    },
  );

  it('settles by a failure of the newest attempt', () => {
    expect(changeByAttempt(at('RECONCILING'), two, 2, failed)?.to).toBe('FAILED');
  });

  it.each(OPERATION_STATES)('only records a late failure of an older attempt in %s', (status) => {
    expect(changeByAttempt(at(status), two, 1, failed)).toBeUndefined();
  });

  it.each(OPEN)('settles %s by a success of an older attempt', (status) => {
    expect(changeByAttempt(at(status), two, 1, succeeded)?.to).toBe('SUCCEEDED');
  });

  it('contradicts FAILED by a success of an older attempt', () => {
    expect(changeByAttempt(at('FAILED'), two, 1, succeeded)?.to).toBe('NEEDS_REVIEW');
  });

  it.each([1, 2, 3, 4])('leaves room for another try after refusal %i', (count) => {
    const change = changeByAttempt(at('IN_PROGRESS'), refused(count), count, OUTCOMES.not_sent);
    expect(change).toBeUndefined();
  });

  it('fails as provider_unavailable with the fifth refusal', () => {
    expect(changeByAttempt(at('IN_PROGRESS'), refused(5), 5, OUTCOMES.not_sent)).toMatchObject({
      to: 'FAILED',
      error: { code: 'provider_unavailable' },
    });
  });

  it.each(['unknown', null, 'pending'] as const)(
    'decides nothing by refusals while an attempt is %s',
    (outcome) => {
      const attempts = [attemptOf(1, outcome), ...refused(6).slice(1)];
      const change = changeByAttempt(at('IN_PROGRESS'), attempts, 6, OUTCOMES.not_sent);
      expect(change).toBeUndefined();
    },
  );

  it.each(OPERATION_STATES.filter((state) => state !== 'IN_PROGRESS'))(
    'decides nothing by refusals in %s',
    (status) => {
      expect(changeByAttempt(at(status), refused(9), 9, OUTCOMES.not_sent)).toBeUndefined();
    },
  );
});

/** What an operation has behind it, driven as worker and store drive it. */
interface History {
  operation: Operation;
  attempts: Attempt[];
  readonly answers: { readonly number: number; readonly outcome: WriteOutcome }[];
  readonly states: OperationState[];
}

function apply(history: History, change: Change | undefined): void {
  if (!change) return;
  const { status } = history.operation;
  if (!mayMove(status, change.to)) throw new Error(`${status} to ${change.to}`);
  history.states.push(change.to);
  history.operation = {
    ...history.operation,
    status: change.to,
    reviewReason: change.reviewReason ?? null,
    error: change.error ?? null,
    providerReference: change.providerReference ?? history.operation.providerReference,
  };
}

function answer(history: History, number: number, outcome: WriteOutcome): void {
  const found = history.attempts.find((one) => one.number === number);
  // As the store has it: a definite answer stands, an open one may be overtaken.
  const open = found && (found.outcome === null || ['unknown', 'pending'].includes(found.outcome));
  if (!open || found.outcome === outcome.status) return;
  history.attempts = history.attempts.map((one) =>
    one.number === number ? { ...one, outcome: outcome.status } : one,
  );
  history.answers.push({ number, outcome });
  apply(history, changeByAttempt(history.operation, history.attempts, number, outcome));
}

function begin(history: History, purpose: Attempt['purpose']): void {
  const number = history.attempts.length + 1;
  history.attempts = [...history.attempts, attemptOf(number, null, { purpose })];
  if (history.operation.status === 'PENDING') apply(history, { to: 'IN_PROGRESS' });
}

type Step =
  | { readonly do: 'dispatch' | 'resend' | 'lose' | 'deadline' }
  | { readonly do: 'answer'; readonly which: number; readonly outcome: WriteOutcome };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Step>({ do: 'dispatch' }, { do: 'resend' }) },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ do: 'lose' }, { do: 'deadline' }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      which: fc.nat(6),
      outcome: fc.constantFrom<WriteOutcome>(...Object.values(OUTCOMES)),
    }),
  },
);

function play(steps: readonly Step[]): History {
  const history: History = { operation: at('PENDING'), attempts: [], answers: [], states: [] };
  for (const one of steps) {
    const file = { ...history, approval: null };
    const { status } = history.operation;
    if (one.do === 'dispatch') {
      const decision = decideDispatch(file, history.attempts.length + 1);
      if (decision.move === 'send') begin(history, 'dispatch');
    } else if (one.do === 'resend') {
      if (mayResend(file)) begin(history, 'resend');
    } else if (one.do === 'answer') {
      answer(history, one.which, one.outcome);
    } else if (one.do === 'deadline') {
      if (['UNKNOWN', 'RECONCILING'].includes(status))
        apply(history, { to: 'NEEDS_REVIEW', reviewReason: 'reconcile_deadline' });
    } else {
      loseOpenAttempts(history);
    }
  }
  return history;
}

/** Reconciliation takes over: what never ended is unknown. */
function loseOpenAttempts(history: History): void {
  if (!['IN_PROGRESS', 'UNKNOWN', 'RECONCILING'].includes(history.operation.status)) return;
  history.attempts = history.attempts.map((one) =>
    one.outcome === null ? { ...one, outcome: 'unknown' } : one,
  );
  if (!history.attempts.some((one) => one.outcome === 'unknown')) return;
  if (history.operation.status === 'IN_PROGRESS') apply(history, { to: 'UNKNOWN' });
  if (history.operation.status === 'UNKNOWN') apply(history, { to: 'RECONCILING' });
}

const histories = fc.array(step, { maxLength: 40 }).map(play);
const PROPERTY = { numRuns: 2_000 };

describe('any history of answers', () => {
  it('makes only moves of the table', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        expect(() => play(steps)).not.toThrow();
      }),
      PROPERTY,
    );
  });

  it('loses no success: it ends as SUCCEEDED or with a person', () => {
    fc.assert(
      fc.property(histories, ({ operation, answers }) => {
        if (!answers.some(({ outcome }) => outcome.status === 'succeeded')) return;
        expect(['SUCCEEDED', 'NEEDS_REVIEW']).toContain(operation.status);
      }),
      PROPERTY,
    );
  });

  it('says FAILED only with a definite failure, or when every attempt was definitely refused', () => {
    fc.assert(
      fc.property(histories, ({ operation, answers, attempts }) => {
        if (operation.status !== 'FAILED') return;
        const failure = answers.some(({ outcome }) => outcome.status === 'failed');
        const allRefused = attempts.every((one) => one.outcome === 'not_sent');
        expect(failure || allRefused).toBe(true);
      }),
      PROPERTY,
    );
  });

  it('says SUCCEEDED only with a success', () => {
    fc.assert(
      fc.property(histories, ({ operation, answers }) => {
        if (operation.status !== 'SUCCEEDED') return;
        expect(answers.some(({ outcome }) => outcome.status === 'succeeded')).toBe(true);
      }),
      PROPERTY,
    );
  });

  it('has at most one write in flight, and one resend after a lost answer', () => {
    fc.assert(
      fc.property(histories, ({ attempts }) => {
        expect(attempts.filter((one) => one.outcome === null).length).toBeLessThanOrEqual(1);
        const resends = attempts.filter(
          (one) => one.purpose === 'resend' && one.outcome !== 'not_sent',
        );
        expect(resends.length).toBeLessThanOrEqual(1);
      }),
      PROPERTY,
    );
  });

  it('leaves a settled state to a person only', () => {
    fc.assert(
      fc.property(histories, ({ states }) => {
        states.forEach((state, n) => {
          if (isSettled(state) && n + 1 < states.length) expect(states[n + 1]).toBe('NEEDS_REVIEW');
        });
      }),
      PROPERTY,
    );
  });

  it('reaches every end that answers can bring about', () => {
    const seen = new Set(
      fc.sample(histories, { numRuns: 3_000, seed: 1 }).map(({ operation }) => operation.status),
    );
    for (const end of ['SUCCEEDED', 'FAILED', 'NEEDS_REVIEW', 'UNKNOWN', 'RECONCILING'] as const) {
      expect(seen).toContain(end);
    }
  });

  it('knows when all attempts were refused before they acted', () => {
    expect(onlyRefused([attemptOf(1, 'not_sent'), attemptOf(2, 'not_sent')])).toBe(true);
    for (const outcome of [null, 'unknown', 'pending', 'succeeded', 'failed'] as const) {
      expect(onlyRefused([attemptOf(1, outcome), attemptOf(2, 'not_sent')])).toBe(false);
    }
  });
});

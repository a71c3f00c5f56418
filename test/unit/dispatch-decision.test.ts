import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideDispatch, mayResend } from '../../src/domain/dispatch-decision.ts';
import { needsReconciliation, type AttemptOutcome } from '../../src/domain/operation.ts';
import { OPERATION_STATES } from '../../src/domain/operation-state.ts';
import { APPROVAL, attemptOf, fileOf, planOf } from '../support/operation-file.ts';

const OUTCOMES: AttemptOutcome[] = ['succeeded', 'failed', 'pending', 'unknown', 'not_sent', null];
const attemptLists = fc
  .array(fc.record({ outcome: fc.constantFrom(...OUTCOMES), resend: fc.boolean() }), {
    maxLength: 6,
  })
  .map((all) =>
    all.map(({ outcome, resend }, n) =>
      attemptOf(n + 1, outcome, { purpose: resend ? 'resend' : 'dispatch' }),
    ),
  );
const UNRESOLVED: readonly AttemptOutcome[] = [null, 'unknown'];

describe('a dispatch', () => {
  it('sends a claimed operation as attempt 1', () => {
    expect(decideDispatch(fileOf(), 1)).toEqual({ move: 'send', number: 1 });
  });

  it.each(['pending', 'rejected', 'expired', 'void'] as const)(
    'waits while the approval is %s',
    (status) => {
      const file = fileOf({ status: 'AWAITING_APPROVAL' }, [], { ...APPROVAL, status });
      expect(decideDispatch(file, 1)).toEqual({ move: 'wait_for_approval' });
    },
  );

  it('waits where there is no approval at all', () => {
    const decision = decideDispatch(fileOf({ status: 'AWAITING_APPROVAL' }), 1);
    expect(decision).toEqual({ move: 'wait_for_approval' });
  });

  it('sends what a person approved', () => {
    const approval = { ...APPROVAL, status: 'approved' } as const;
    const file = fileOf({ status: 'AWAITING_APPROVAL' }, [], approval);
    expect(decideDispatch(file, 1)).toEqual({ move: 'send', number: 1 });
  });

  it('sends the next attempt after a definite refusal, once its turn has come', () => {
    const file = fileOf({ status: 'IN_PROGRESS' }, [attemptOf(1, 'not_sent')]);
    expect(decideDispatch(file, 2)).toEqual({ move: 'send', number: 2 });
  });

  it('waits out the delay where the engine runs an attempt again that was refused', () => {
    const file = fileOf({ status: 'IN_PROGRESS' }, [attemptOf(1, 'not_sent')]);
    expect(decideDispatch(file, 1)).toEqual({ move: 'retry', attempt: 1 });
  });

  it.each([null, 'unknown', 'pending', 'succeeded', 'failed'] as const)(
    'asks the provider where its own attempt is found with outcome %s',
    (outcome) => {
      const file = fileOf({ status: 'IN_PROGRESS' }, [attemptOf(1, outcome)]);
      expect(decideDispatch(file, 1)).toEqual({ move: 'reconcile' });
      expect(decideDispatch(file, 2)).toEqual({ move: 'reconcile' });
    },
  );

  it.each(['UNKNOWN', 'RECONCILING'] as const)('asks the provider in %s', (status) => {
    const file = fileOf({ status }, [attemptOf(1, 'unknown')]);
    expect(decideDispatch(file, 2)).toEqual({ move: 'reconcile' });
  });

  it.each(['NEEDS_REVIEW', 'SUCCEEDED', 'FAILED', 'REJECTED', 'EXPIRED', 'CANCELED'] as const)(
    'has nothing to do in %s',
    (status) => {
      expect(decideDispatch(fileOf({ status }), 1)).toEqual({ move: 'done' });
    },
  );

  it('never sends while an attempt is unresolved', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...OPERATION_STATES.slice(2)),
        attemptLists,
        fc.integer({ min: 1, max: 8 }),
        (status, attempts, wanted) => {
          if (!attempts.some(({ outcome }) => UNRESOLVED.includes(outcome))) return;
          const decision = decideDispatch(fileOf({ status }, attempts), wanted);
          expect(decision.move).not.toBe('send');
          expect(decision.move).not.toBe('retry');
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('never sends after an attempt that the provider accepted, whatever came behind it', () => {
    const file = fileOf({ status: 'IN_PROGRESS' }, [
      attemptOf(1, 'pending'),
      attemptOf(2, 'not_sent'),
    ]);
    expect(decideDispatch(file, 2)).toEqual({ move: 'reconcile' });
    expect(decideDispatch(file, 3)).toEqual({ move: 'reconcile' });
  });

  it('never gives one attempt number twice', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...OPERATION_STATES.slice(2)),
        attemptLists,
        fc.integer({ min: 1, max: 8 }),
        (status, attempts, wanted) => {
          const decision = decideDispatch(fileOf({ status }, attempts), wanted);
          if (decision.move === 'send') expect(decision.number).toBe(attempts.length + 1);
        },
      ),
    );
  });
});

describe('a resend', () => {
  const lost = [attemptOf(1, 'unknown')];
  const resent = (outcome: AttemptOutcome) => [
    ...lost,
    attemptOf(2, outcome, { purpose: 'resend' }),
  ];

  it('is allowed once in RECONCILING', () => {
    expect(mayResend(fileOf({ status: 'RECONCILING' }, lost))).toBe(true);
    expect(mayResend(fileOf({ status: 'RECONCILING' }, resent('unknown')))).toBe(false);
  });

  it('is not counted where the provider definitely refused it', () => {
    expect(mayResend(fileOf({ status: 'RECONCILING' }, resent('not_sent')))).toBe(true);
  });

  it.each(OPERATION_STATES.filter((state) => state !== 'RECONCILING'))(
    'is not allowed in %s',
    (status) => {
      expect(mayResend(fileOf({ status }, lost))).toBe(false);
    },
  );

  it('is not allowed while an attempt runs', () => {
    expect(mayResend(fileOf({ status: 'RECONCILING' }, [attemptOf(1, null)]))).toBe(false);
  });

  it('is not allowed where the token is not the provider’s own', () => {
    const plan = planOf({ token: 'client_id' });
    expect(mayResend(fileOf({ status: 'RECONCILING', plan }, lost))).toBe(false);
  });
});

describe('what is left to do', () => {
  it.each(['UNKNOWN', 'RECONCILING'] as const)('is to ask the provider in %s', (status) => {
    expect(needsReconciliation(fileOf({ status }))).toBe(true);
  });

  it.each([null, 'unknown', 'pending'] as const)(
    'is to ask the provider while a running operation’s attempt is %s',
    (outcome) => {
      const file = fileOf({ status: 'IN_PROGRESS' }, [attemptOf(1, outcome)]);
      expect(needsReconciliation(file)).toBe(true);
    },
  );

  it('is to send again after a refusal', () => {
    const file = fileOf({ status: 'IN_PROGRESS' }, [attemptOf(1, 'not_sent')]);
    expect(needsReconciliation(file)).toBe(false);
  });

  it('is to ask the provider wherever an attempt of a running operation is unresolved', () => {
    fc.assert(
      fc.property(attemptLists, (attempts) => {
        if (!attempts.some(({ outcome }) => outcome === null || outcome === 'unknown')) return;
        expect(needsReconciliation(fileOf({ status: 'IN_PROGRESS' }, attempts))).toBe(true);
      }),
    );
  });

  it.each(['PENDING', 'AWAITING_APPROVAL', 'NEEDS_REVIEW', 'SUCCEEDED', 'FAILED'] as const)(
    'is nothing for reconciliation in %s',
    (status) => {
      expect(needsReconciliation(fileOf({ status }, [attemptOf(1, 'unknown')]))).toBe(false);
    },
  );
});

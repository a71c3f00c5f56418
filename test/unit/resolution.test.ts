import { describe, expect, it } from 'vitest';
import { OPERATION_STATES } from '../../src/domain/operation-state.ts';
import type { Attempt } from '../../src/domain/operation.ts';
import {
  changeByPerson,
  refusalToResolve,
  stepOfTwo,
  type AnsweredLook,
  type Resolution,
  type ResolutionFacts,
} from '../../src/domain/resolution.ts';
import { attemptOf, operationOf, T0 } from '../support/operation-file.ts';

const START_MS = Date.parse(T0);
const operation = operationOf({ status: 'UNKNOWN' });
const { send_window_ms: WINDOW_MS, visibility_lag_ms: LAG_MS } = operation.plan.reconcile;
const TEN_MINUTES_MS = 600_000;

const SUCCEEDED: Resolution = {
  outcome: 'succeeded',
  providerReference: null,
  externalCheck: null,
};
const FAILED: Resolution = { ...SUCCEEDED, outcome: 'failed' };

/** An hour after a lost answer; a minute ago the provider showed nothing. */
function factsOf(changed: Partial<ResolutionFacts> = {}): ResolutionFacts {
  const nowMs = changed.nowMs ?? START_MS + 3_600_000;
  return {
    operation,
    attempts: [attemptOf(1, 'unknown')],
    nowMs,
    owner: 'finance',
    submitterOwners: ['sales'],
    canLookUp: true,
    lastLook: look({ atMs: nowMs - 60_000 }),
    ...changed,
  };
}

function look(changed: Partial<AnsweredLook> = {}): AnsweredLook {
  return { verdict: 'absent', match: null, state: null, atMs: 0, ...changed };
}

const codeOf = (resolution: Resolution, changed: Partial<ResolutionFacts> = {}) =>
  refusalToResolve(resolution, factsOf(changed))?.code;

describe.each([
  ['succeeded', SUCCEEDED],
  ['failed', FAILED],
] as const)('resolving as %s', (_, resolution) => {
  it('is allowed for somebody of another owner, with all conditions met', () => {
    expect(codeOf(resolution)).toBeUndefined();
  });

  it.each(OPERATION_STATES)('looks at the state: %s', (status) => {
    const allowed = ['UNKNOWN', 'RECONCILING', 'NEEDS_REVIEW'].includes(status);
    const code = codeOf(resolution, { operation: operationOf({ status }) });
    expect(code).toBe(allowed ? undefined : 'wrong_state');
  });

  it('is refused to the owner of any submitter, before anything else is looked at', () => {
    const submitterOwners = ['sales', 'finance'];
    expect(codeOf(resolution, { submitterOwners })).toBe('own_request');
    const done = operationOf({ status: 'SUCCEEDED' });
    expect(codeOf(resolution, { submitterOwners, operation: done })).toBe('own_request');
  });

  const withoutAnswer: [string, Attempt][] = [
    ['still runs', attemptOf(1, null)],
    ['was lost with its worker', attemptOf(1, 'unknown', { error: LOST })],
  ];
  it.each(withoutAnswer)(
    'waits for the send window of an attempt that %s, to the millisecond',
    (__, attempt) => {
      const at = (nowMs: number) => ({ attempts: [attempt], nowMs });
      expect(codeOf(resolution, at(START_MS + WINDOW_MS - 1))).toBe('not_resolvable');
      const later = codeOf(resolution, at(START_MS + WINDOW_MS));
      expect(later).toBe(resolution === FAILED ? 'lookup_required' : undefined);
    },
  );

  it('waits for the newest of several attempts', () => {
    const startedAt = new Date(START_MS + 5_000).toISOString();
    const attempts = [attemptOf(1, 'unknown', { error: LOST }), attemptOf(2, null, { startedAt })];
    const nowMs = START_MS + WINDOW_MS + 4_999;
    expect(codeOf(resolution, { attempts, nowMs })).toBe('not_resolvable');
  });

  it.each(['failed', 'succeeded', 'pending', 'not_sent'] as const)(
    'does not wait for an attempt that was answered with %s',
    (outcome) => {
      const attempts = [attemptOf(1, outcome)];
      const nowMs = START_MS + 1;
      expect(codeOf(resolution, { attempts, nowMs, lastLook: look({ atMs: nowMs }) })).toBe(
        undefined,
      );
    },
  );
});

const LOST = { code: 'worker_lost', message: 'lost' };

describe('resolving an operation whose last answer was lost within the send window', () => {
  const early = { nowMs: START_MS + WINDOW_MS - 1 };

  it('is allowed as succeeded: that an effect is there can be seen at once', () => {
    expect(codeOf(SUCCEEDED, early)).toBeUndefined();
  });

  it('is refused as failed: an effect may still come', () => {
    expect(codeOf(FAILED, early)).toBe('not_resolvable');
  });
});

describe('the lookup that FAILED needs', () => {
  const at = START_MS + 3_600_000;

  it('is there', () => {
    expect(codeOf(FAILED, { lastLook: undefined })).toBe('lookup_required');
  });

  it('is at most 10 minutes old, to the millisecond', () => {
    expect(codeOf(FAILED, { lastLook: look({ atMs: at - TEN_MINUTES_MS }) })).toBeUndefined();
    expect(codeOf(FAILED, { lastLook: look({ atMs: at - TEN_MINUTES_MS - 1 }) })).toBe(
      'lookup_required',
    );
  });

  it.each([
    ['matching', 'done', 'lookup_required'],
    ['matching', 'pending', 'lookup_required'],
    ['matching', 'failed', undefined],
    ['contrary', 'done', 'lookup_required'],
    ['contrary', 'pending', 'lookup_required'],
    ['contrary', 'failed', undefined],
    ['ambiguous', 'done', 'lookup_required'],
    ['ambiguous', 'pending', 'lookup_required'],
    // Only the first of several is named; another may be done.
    ['ambiguous', 'failed', 'lookup_required'],
  ] as const)('found %s and %s: %s', (match, state, code) => {
    const lastLook = look({ verdict: 'found', match, state, atMs: at });
    expect(codeOf(FAILED, { lastLook })).toBe(code);
  });

  it('was made after send window and visibility lag, since before that nothing is seen', () => {
    const nowMs = START_MS + WINDOW_MS + LAG_MS + 60_000;
    const seenAt = (atMs: number) => codeOf(FAILED, { nowMs, lastLook: look({ atMs }) });
    expect(seenAt(START_MS + WINDOW_MS + LAG_MS - 1)).toBe('lookup_required');
    expect(seenAt(START_MS + WINDOW_MS + LAG_MS)).toBeUndefined();
  });

  it('counts at any time where nothing was ever sent', () => {
    const nowMs = START_MS + 1;
    expect(
      codeOf(FAILED, { attempts: [], nowMs, lastLook: look({ atMs: nowMs }) }),
    ).toBeUndefined();
  });

  it('is not needed for succeeded', () => {
    expect(codeOf(SUCCEEDED, { lastLook: undefined })).toBeUndefined();
    expect(codeOf(SUCCEEDED, { canLookUp: false, lastLook: undefined })).toBeUndefined();
  });

  it('is a named external check where the adapter has none', () => {
    const facts = { canLookUp: false, lastLook: undefined };
    expect(codeOf(FAILED, facts)).toBe('lookup_required');
    expect(codeOf({ ...FAILED, externalCheck: 'bank statement' }, facts)).toBeUndefined();
  });

  it('is not replaced by an external check where the adapter has one', () => {
    const named = { ...FAILED, externalCheck: 'bank statement' };
    expect(codeOf(named, { lastLook: undefined })).toBe('lookup_required');
  });
});

describe('where two people are needed', () => {
  const first = { owner: 'finance', outcome: 'succeeded', providerReference: 'pay_1' } as const;
  const same: Resolution = { ...SUCCEEDED, providerReference: 'pay_1' };

  it('the first word waits', () => {
    expect(stepOfTwo(same, 'finance', [])).toBe('wait');
  });

  it('the equal word of another owner applies', () => {
    expect(stepOfTwo(same, 'audit', [first])).toBe('apply');
  });

  it('the same owner is no second person', () => {
    expect(stepOfTwo(same, 'finance', [first])).toBe('same_person');
  });

  it.each([
    ['outcome', { ...same, outcome: 'failed' } as const],
    ['reference', { ...same, providerReference: 'pay_2' }],
    ['reference, by leaving it out', { ...same, providerReference: null }],
  ])('a word with another %s waits, whoever says it', (_, other) => {
    expect(stepOfTwo(other, 'audit', [first])).toBe('wait');
    expect(stepOfTwo(other, 'finance', [first])).toBe('wait');
  });

  it('applies when the owner had already said the same as another', () => {
    expect(stepOfTwo(same, 'finance', [first, { ...first, owner: 'audit' }])).toBe('apply');
  });

  it('does not ask how the external checks are named', () => {
    expect(stepOfTwo({ ...same, externalCheck: 'x' }, 'audit', [first])).toBe('apply');
  });
});

describe('the change that a person makes', () => {
  const effects = [
    { reference: 'pay_1', result: { payment_id: 'pay_1', payment_state: 'captured' } },
    { reference: 'pay_2', result: { payment_id: 'pay_2', payment_state: 'captured' } },
  ];

  it('to FAILED says who, and that a person found it out', () => {
    expect(changeByPerson(operation, FAILED, effects, 'op.1')).toMatchObject({
      to: 'FAILED',
      error: { code: 'resolved_as_failed' },
      resolvedBy: 'op.1',
    });
  });

  it('to SUCCEEDED takes the effect that the person names, with what the provider showed of it', () => {
    const named = { ...SUCCEEDED, providerReference: 'pay_1' };
    expect(changeByPerson(operation, named, effects, 'op.1')).toEqual({
      to: 'SUCCEEDED',
      providerReference: 'pay_1',
      result: effects[0]?.result,
      resolvedBy: 'op.1',
    });
  });

  it('to SUCCEEDED takes the known reference where none is named', () => {
    const known = { ...operation, providerReference: 'pay_1' };
    expect(changeByPerson(known, SUCCEEDED, effects, 'op.1').providerReference).toBe('pay_1');
  });

  it('to SUCCEEDED takes the effect that was shown last where nothing else is known', () => {
    expect(changeByPerson(operation, SUCCEEDED, effects, 'op.1')).toMatchObject({
      providerReference: 'pay_2',
      result: { payment_id: 'pay_2' },
    });
  });

  it('to SUCCEEDED keeps the result of a success that was contradicted', () => {
    const result = { payment_id: 'pay_9' };
    const reopened = { ...operation, providerReference: 'pay_9', result };
    expect(changeByPerson(reopened, SUCCEEDED, effects, 'op.1').result).toEqual(result);
  });

  it('to SUCCEEDED does not keep a result of another effect', () => {
    const reopened = { ...operation, providerReference: 'pay_9', result: { payment_id: 'pay_9' } };
    const named = { ...SUCCEEDED, providerReference: 'pay_7' };
    expect(changeByPerson(reopened, named, effects, 'op.1').result).toEqual({
      provider_reference: 'pay_7',
    });
  });

  it('to SUCCEEDED invents nothing where nobody knows a reference', () => {
    expect(changeByPerson(operation, SUCCEEDED, [], 'op.1')).toEqual({
      to: 'SUCCEEDED',
      resolvedBy: 'op.1',
    });
  });
});

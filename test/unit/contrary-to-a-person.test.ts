// Whatever contradicts what a person has decided goes to a person again; what agrees with it changes nothing.
import { describe, expect, it } from 'vitest';
import type { Operation } from '../../src/domain/operation.ts';
import { changeByEvent, type ProviderEvent } from '../../src/domain/provider-event.ts';
import { changeByAttempt, changeByDefinite, changeByReview } from '../../src/domain/settlement.ts';
import { attemptOf, operationOf, OUTCOMES, T0 } from '../support/operation-file.ts';

const BY_PERSON = { resolvedBy: 'acct_a.operator', settledAt: '2026-01-02T04:00:00.000Z' };
const done = (changed: Partial<Operation> = {}) =>
  operationOf({ status: 'SUCCEEDED', providerReference: 'pay_1', ...BY_PERSON, ...changed });
const denied = operationOf({ status: 'FAILED', ...BY_PERSON });
const attempts = [attemptOf(1, 'unknown')];
const REVIEW = { to: 'NEEDS_REVIEW', reviewReason: 'evidence_contradicts' };

const eventOf = (changed: Partial<ProviderEvent> = {}): ProviderEvent => ({
  eventId: 'evt_1',
  reference: 'pay_1',
  token: 'key-1',
  state: 'failed',
  happenedAt: '2026-01-02T03:30:00.000Z',
  ofEarlierAttempt: false,
  result: { payment_id: 'pay_1' },
  ...changed,
});

describe('a success after a person said FAILED', () => {
  it('goes to a person, by whatever way it comes', () => {
    expect(changeByDefinite(denied, OUTCOMES.succeeded)).toMatchObject(REVIEW);
    expect(changeByAttempt(denied, attempts, 1, OUTCOMES.succeeded)).toMatchObject(REVIEW);
    const event = eventOf({ state: 'done' });
    expect(changeByEvent(denied, attempts, event, true)).toMatchObject(REVIEW);
  });

  it('goes to a person also where the effect has other parameters or is ambiguous, and adopts nothing', () => {
    for (const change of [
      changeByEvent(denied, attempts, eventOf({ state: 'done' }), false),
      changeByReview(denied, 'effect_contrary'),
      changeByReview(denied, 'effect_ambiguous'),
    ]) {
      expect(change).toMatchObject(REVIEW);
      expect(change).not.toHaveProperty('providerReference');
    }
  });
});

describe('a failure after a person said SUCCEEDED', () => {
  it('goes to a person also where it is older than the decision', () => {
    expect(changeByAttempt(done(), attempts, 1, OUTCOMES.failed)).toMatchObject(REVIEW);
    expect(changeByEvent(done(), attempts, eventOf(), true)).toMatchObject(REVIEW);
  });

  it('goes to a person where nobody had named an effect', () => {
    const unnamed = done({ providerReference: null });
    expect(changeByEvent(unnamed, attempts, eventOf(), true)).toMatchObject(REVIEW);
  });

  it.each([
    ['of another effect', { reference: 'pay_2' }],
    ['of an earlier attempt', { ofEarlierAttempt: true }],
    ['from before the newest attempt', { happenedAt: '2026-01-02T03:00:00.000Z' }],
  ])('is no news %s', (_, changed) => {
    expect(changeByEvent(done(), attempts, eventOf(changed), true)).toBeUndefined();
  });
});

describe('what agrees with a person', () => {
  it('changes nothing', () => {
    expect(changeByDefinite(denied, OUTCOMES.failed)).toBeUndefined();
    expect(changeByDefinite(done(), OUTCOMES.succeeded)).toBeUndefined();
    expect(changeByEvent(done(), attempts, eventOf({ state: 'done' }), true)).toBeUndefined();
    expect(changeByEvent(denied, attempts, eventOf(), false)).toBeUndefined();
  });

  it('by another effect than the one they named is not agreement', () => {
    const other = { ...OUTCOMES.succeeded, reference: 'pay_2' };
    const change = changeByDefinite(done(), other);
    expect(change).toMatchObject(REVIEW);
    expect(change).not.toHaveProperty('providerReference');
    const event = eventOf({ state: 'done', reference: 'pay_2' });
    expect(changeByEvent(done(), attempts, event, false)).toMatchObject(REVIEW);
  });
});

describe('an operation that a machine settled', () => {
  it('is not reopened by an older failure of its effect', () => {
    const byMachine = done({ resolvedBy: null });
    expect(changeByEvent(byMachine, attempts, eventOf(), true)).toBeUndefined();
  });

  it('and FAILED is not reopened by an effect that is nobody’s', () => {
    const byMachine = operationOf({ status: 'FAILED', settledAt: T0 });
    expect(changeByReview(byMachine, 'effect_contrary')).toBeUndefined();
    expect(changeByReview(byMachine, 'effect_ambiguous')).toBeUndefined();
  });
});

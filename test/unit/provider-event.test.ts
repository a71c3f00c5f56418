import { describe, expect, it } from 'vitest';
import { changeByEvent, type ProviderEvent } from '../../src/domain/provider-event.ts';
import type { OperationState } from '../../src/domain/operation-state.ts';
import { attemptOf, operationOf, T0 } from '../support/operation-file.ts';

const at = (milliseconds: number): string => new Date(Date.parse(T0) + milliseconds).toISOString();

const event = (members: Partial<ProviderEvent> = {}): ProviderEvent => ({
  eventId: 'evt_1',
  reference: 'pay_1',
  token: 'key-1',
  state: 'failed',
  happenedAt: at(10_000),
  ofEarlierAttempt: false,
  result: {},
  ...members,
});

const attempts = [attemptOf(1, 'pending', { startedAt: at(1_000) })];

const change = (
  status: OperationState,
  told: ProviderEvent,
  { settledAt = at(5_000), reference = 'pay_1', matches = true } = {},
) =>
  changeByEvent(
    operationOf({ status, settledAt, providerReference: reference }),
    attempts,
    told,
    matches,
  );

describe('a failure that a provider tells', () => {
  it.each(['IN_PROGRESS', 'UNKNOWN', 'RECONCILING'] as const)(
    'settles an operation that is %s',
    (status) => {
      expect(change(status, event())).toMatchObject({ to: 'FAILED' });
    },
  );

  it('decides nothing where it is of an earlier attempt, by its word or by its time', () => {
    expect(change('IN_PROGRESS', event({ ofEarlierAttempt: true }))).toBeUndefined();
    expect(change('IN_PROGRESS', event({ happenedAt: at(500) }))).toBeUndefined();
  });

  it('contradicts a success of the same object that is older', () => {
    expect(change('SUCCEEDED', event())).toMatchObject({
      to: 'NEEDS_REVIEW',
      reviewReason: 'evidence_contradicts',
    });
  });

  it('is no contradiction where it is older than the success or of another object', () => {
    expect(change('SUCCEEDED', event({ happenedAt: at(4_000) }))).toBeUndefined();
    expect(change('SUCCEEDED', event({ reference: 'pay_2' }))).toBeUndefined();
  });
});

describe('a success that a provider tells', () => {
  const done = event({ state: 'done' });

  it('settles an open operation whatever attempt it is of', () => {
    const told = event({ state: 'done', ofEarlierAttempt: true });
    expect(change('UNKNOWN', told)).toMatchObject({ to: 'SUCCEEDED', providerReference: 'pay_1' });
  });

  it('contradicts a failure, and agrees with a success', () => {
    expect(change('FAILED', done)).toMatchObject({ to: 'NEEDS_REVIEW' });
    expect(change('SUCCEEDED', done)).toBeUndefined();
  });

  it('of other parameters is adopted by nobody', () => {
    expect(change('UNKNOWN', done, { matches: false })).toMatchObject({
      to: 'NEEDS_REVIEW',
      reviewReason: 'effect_contrary',
    });
    expect(change('SUCCEEDED', done, { matches: false })).toBeUndefined();
  });
});

it('a pending state that a provider tells changes nothing', () => {
  for (const status of ['IN_PROGRESS', 'UNKNOWN', 'SUCCEEDED', 'FAILED'] as const) {
    expect(change(status, event({ state: 'pending' }))).toBeUndefined();
  }
});

// Times are milliseconds after the first intent. The plan is that of a provider with native tokens: send window 13 s (5 s freshness,
// 5 s deadline, 3 s processing), visibility lag 2 s, so absence counts from 15 s on.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LookupAnswer, UnknownReason } from '../../src/domain/outcome.ts';
import {
  delayToNextLook,
  judgeLook,
  type NextStep,
  type Situation,
} from '../../src/domain/reconciliation.ts';
import { planOf } from '../support/operation-file.ts';

const HOUR_MS = 3_600_000;
const COUNTS_FROM_MS = 15_000;
const plan = planOf().reconcile;

const absent: LookupAnswer = { status: 'absent', evidence: {} };
const unavailable: LookupAnswer = { status: 'unavailable', evidence: {} };
function found(
  members: Partial<Extract<LookupAnswer, { status: 'found' }>> = {},
): Extract<LookupAnswer, { status: 'found' }> {
  return {
    status: 'found',
    match: 'matching',
    state: 'done',
    references: ['pay_1'],
    result: { payment_id: 'pay_1' },
    evidence: {},
    ...members,
  };
}

function situation(members: Partial<Situation> = {}): Situation {
  return {
    plan,
    nowMs: 20_000,
    openSinceMs: 1_000,
    lastIntentMs: 0,
    accepted: false,
    unknownReasons: ['lost_answer'],
    absentLooksMs: [],
    resends: 0,
    lastRefused: false,
    safeResendUntilMs: 24 * HOUR_MS,
    ...members,
  };
}

/** Absence is certain: window and lag are over, and an earlier look agrees. */
const certain = (members: Partial<Situation> = {}) =>
  situation({ absentLooksMs: [17_000], ...members });
const withCard = (...card: Parameters<typeof planOf>) => planOf(...card).reconcile;

describe('a found effect', () => {
  it('settles as SUCCEEDED where it matches and is done', () => {
    expect(judgeLook(found(), situation())).toEqual({
      next: 'settle',
      definite: { status: 'succeeded', reference: 'pay_1', result: { payment_id: 'pay_1' } },
    });
  });

  it('settles as FAILED where it matches and has failed', () => {
    expect(judgeLook(found({ state: 'failed' }), situation())).toMatchObject({
      next: 'settle',
      definite: { status: 'failed', error: { code: 'provider_declined' } },
    });
  });

  it('is looked at again while it is pending, and never sent again', () => {
    const step = judgeLook(found({ state: 'pending' }), certain());
    expect(step.next).toBe('look');
  });

  it.each(['done', 'pending', 'failed'] as const)(
    'goes to a person where its parameters are other ones (%s)',
    (state) => {
      expect(judgeLook(found({ match: 'contrary', state }), certain())).toEqual({
        next: 'review',
        reason: 'effect_contrary',
      });
    },
  );

  it.each(['done', 'pending', 'failed'] as const)(
    'goes to a person where there is more than one (%s)',
    (state) => {
      expect(judgeLook(found({ match: 'ambiguous', state }), certain())).toEqual({
        next: 'review',
        reason: 'effect_ambiguous',
      });
    },
  );

  it('settles also past the deadline', () => {
    const step = judgeLook(found(), situation({ nowMs: 100 * HOUR_MS }));
    expect(step.next).toBe('settle');
  });
});

describe('absence', () => {
  it('counts for nothing before send window and visibility lag are over', () => {
    const early = certain({ nowMs: COUNTS_FROM_MS - 1, absentLooksMs: [1, 13_000] });
    expect(judgeLook(absent, early).next).toBe('look');
  });

  it('is looked at again as soon as it can count', () => {
    const step = judgeLook(absent, situation({ nowMs: 14_000 }));
    expect(step).toEqual({ next: 'look', inMs: 1_000 });
  });

  it('counts from the last intent, so a resend starts its time anew', () => {
    const step = judgeLook(absent, certain({ lastIntentMs: 10_000 }));
    expect(step.next).toBe('look');
  });

  it('needs a second look that agrees', () => {
    const step = judgeLook(absent, situation());
    expect(step).toEqual({ next: 'look', inMs: plan.agreeing_spacing_ms });
  });

  it('takes no look for the second one that was too soon after the first', () => {
    expect(judgeLook(absent, situation({ absentLooksMs: [19_001] })).next).toBe('look');
    expect(judgeLook(absent, situation({ absentLooksMs: [19_000] })).next).toBe('resend');
  });

  it('takes no look for the first one that was made before absence could count', () => {
    const before = situation({ absentLooksMs: [COUNTS_FROM_MS - 1] });
    expect(judgeLook(absent, before).next).toBe('look');
    const after = situation({ absentLooksMs: [COUNTS_FROM_MS] });
    expect(judgeLook(absent, after).next).toBe('resend');
  });

  it('leads to one resend where the token is the provider’s own', () => {
    expect(judgeLook(absent, certain())).toEqual({ next: 'resend' });
  });

  it('leads to the next resend at the pace of looks where the last was refused', () => {
    const refused = { lastRefused: true, nowMs: 300_000, absentLooksMs: [290_000] };
    const early = certain({ ...refused, lastIntentMs: 200_000 });
    expect(judgeLook(absent, early)).toEqual({ next: 'look', inMs: 99_000 });
    expect(judgeLook(absent, certain(refused))).toEqual({ next: 'resend' });
  });

  it('settles as FAILED after the resend was lost as well', () => {
    expect(judgeLook(absent, certain({ resends: 1 }))).toMatchObject({
      next: 'settle',
      definite: { status: 'failed', error: { code: 'effect_absent' } },
    });
  });

  it.each([20_000, 19_999])('leads to no resend once the token may be forgotten (%i)', (until) => {
    const step = judgeLook(absent, certain({ safeResendUntilMs: until }));
    expect(step.next).toBe('settle');
  });

  it('leads to no resend past the deadline', () => {
    const late = { nowMs: 80 * HOUR_MS, absentLooksMs: [79 * HOUR_MS] };
    const step = judgeLook(absent, situation({ ...late, safeResendUntilMs: 99 * HOUR_MS }));
    expect(step.next).not.toBe('resend');
  });

  it.each(['client_id', 'natural_key', 'marker', 'none'] as const)(
    'leads to no resend where the token is %s',
    (token) => {
      expect(judgeLook(absent, certain({ plan: withCard({ token }) })).next).toBe('settle');
    },
  );

  it('goes to a person where it is not authoritative', () => {
    const card = withCard({ absenceIsAuthoritative: false });
    expect(judgeLook(absent, certain({ plan: card, resends: 1 }))).toEqual({
      next: 'review',
      reason: 'absence_not_proven',
    });
  });

  it('goes to a person where the provider names no bound on processing', () => {
    const card = withCard({ maxProcessingMs: undefined });
    expect(judgeLook(absent, certain({ plan: card, resends: 1 })).next).toBe('review');
  });

  it('goes to a person, and is never sent again, where the token names other parameters', () => {
    expect(judgeLook(absent, certain({ unknownReasons: ['token_mismatch'] }))).toEqual({
      next: 'review',
      reason: 'provider_parameter_mismatch',
    });
  });

  it.each(['in_use', 'already_exists'] as const)(
    'goes to a person and is never FAILED where the provider said %s',
    (reason) => {
      const unknownReasons = [reason, 'lost_answer'] as const;
      const step = judgeLook(absent, certain({ unknownReasons, resends: 1 }));
      expect(step).toEqual({ next: 'review', reason: 'provider_token_in_use' });
    },
  );

  it('is left to a person at the deadline while it cannot count', () => {
    const late = situation({ nowMs: 73 * HOUR_MS, lastIntentMs: 73 * HOUR_MS });
    expect(judgeLook(absent, late)).toEqual({ next: 'review', reason: 'reconcile_deadline' });
  });
});

describe('a lookup that can’t be made', () => {
  it('is made again', () => {
    expect(judgeLook(unavailable, certain()).next).toBe('look');
  });

  it('is left to a person at the deadline', () => {
    const atDeadline = situation({ nowMs: 1_000 + plan.deadline_ms });
    expect(judgeLook(unavailable, atDeadline)).toEqual({
      next: 'review',
      reason: 'reconcile_deadline',
    });
    const before = situation({ nowMs: 999 + plan.deadline_ms });
    expect(judgeLook(unavailable, before).next).toBe('look');
  });

  it('is made once more no later than the deadline', () => {
    const close = situation({ nowMs: 1_000 + plan.deadline_ms - 60_000 });
    expect(judgeLook(unavailable, close)).toEqual({ next: 'look', inMs: 60_000 });
  });
});

function looks(untilMs: number): { at: number; delay: number }[] {
  const all = [];
  for (let at = 0; at < untilMs;) {
    const delay = delayToNextLook(plan, at);
    all.push({ at, delay });
    at += delay;
  }
  return all;
}

describe('the schedule of looks', () => {
  it('starts at the first look', () => {
    expect(delayToNextLook(plan, 0)).toBe(1_000);
    const slow = { ...plan, first_look_ms: 30_000 };
    expect(delayToNextLook(slow, 0)).toBe(30_000);
  });

  it('doubles up to five minutes in the first hour', () => {
    const all = looks(HOUR_MS);
    const delays = all.map(({ delay }) => delay / 1_000);
    expect(delays.slice(0, 10)).toEqual([1, 1, 2, 4, 8, 16, 32, 64, 128, 256]);
    expect(Math.max(...delays)).toBe(300);
  });

  it('is never longer than an hour, and reaches it', () => {
    const delays = looks(72 * HOUR_MS).map(({ delay }) => delay);
    expect(Math.max(...delays)).toBe(HOUR_MS);
  });

  it('never gets quicker', () => {
    const delays = looks(72 * HOUR_MS).map(({ delay }) => delay);
    expect(delays).toEqual(delays.toSorted((a, b) => a - b));
  });
});

const REASONS: UnknownReason[] = [
  'lost_answer',
  'unclear_answer',
  'in_use',
  'token_mismatch',
  'already_exists',
  'worker_lost',
];
const anySituation = fc
  .record({
    nowMs: fc.integer({ min: 0, max: 90 * HOUR_MS }),
    openSinceMs: fc.integer({ min: 0, max: 60_000 }),
    lastIntentMs: fc.integer({ min: 0, max: 60_000 }),
    accepted: fc.boolean(),
    unknownReasons: fc.array(fc.constantFrom(...REASONS), { maxLength: 2 }),
    absentLooksMs: fc.array(fc.integer({ min: 0, max: 90 * HOUR_MS }), { maxLength: 4 }),
    resends: fc.nat(2),
    lastRefused: fc.boolean(),
    safeResendUntilMs: fc.integer({ min: 0, max: 90 * HOUR_MS }),
    token: fc.constantFrom('native' as const, 'client_id' as const),
    absenceIsAuthoritative: fc.boolean(),
  })
  .map(({ token, absenceIsAuthoritative, absentLooksMs, ...rest }) =>
    situation({
      ...rest,
      absentLooksMs: absentLooksMs.filter((at) => at <= rest.nowMs).toSorted((a, b) => a - b),
      plan: withCard({ token, absenceIsAuthoritative }),
    }),
  );
const anyAnswer = fc.oneof(
  fc.constantFrom(absent, unavailable),
  fc
    .record({
      match: fc.constantFrom('matching' as const, 'contrary' as const, 'ambiguous' as const),
      state: fc.constantFrom('done' as const, 'pending' as const, 'failed' as const),
    })
    .map(found),
);

const judged = (check: (answer: LookupAnswer, given: Situation, step: NextStep) => void) =>
  fc.assert(
    fc.property(anyAnswer, anySituation, (answer, given) =>
      check(answer, given, judgeLook(answer, given)),
    ),
    { numRuns: 5_000 },
  );

describe('any look', () => {
  it('says SUCCEEDED only of a matching effect that is done', () => {
    judged((answer, _, step) => {
      if (step.next !== 'settle' || step.definite.status !== 'succeeded') return;
      expect(answer).toMatchObject({ status: 'found', match: 'matching', state: 'done' });
    });
  });

  it('says FAILED only of a matching failed effect, or of an absence that is authoritative and agreed', () => {
    judged((answer, given, step) => {
      if (step.next !== 'settle' || step.definite.status !== 'failed') return;
      if (answer.status === 'found') {
        expect(answer).toMatchObject({ match: 'matching', state: 'failed' });
        return;
      }
      expect(answer.status).toBe('absent');
      expect(given.plan.absence_is_authoritative).toBe(true);
      expect(given.nowMs).toBeGreaterThanOrEqual(given.lastIntentMs + COUNTS_FROM_MS);
      expect(given.absentLooksMs.length).toBeGreaterThan(0);
    });
  });

  it('sends again only after certain absence, with a native token that is not forgotten, once', () => {
    judged((answer, given, step) => {
      if (step.next !== 'resend') return;
      expect(answer.status).toBe('absent');
      expect(given.plan.max_resends).toBe(1);
      expect(given.resends).toBe(0);
      expect(given.nowMs).toBeLessThan(given.safeResendUntilMs);
      expect(given.nowMs).toBeGreaterThanOrEqual(given.lastIntentMs + COUNTS_FROM_MS);
    });
  });

  it('looks again within an hour and before the deadline', () => {
    judged((_, given, step) => {
      if (step.next !== 'look') return;
      expect(step.inMs).toBeGreaterThan(0);
      expect(step.inMs).toBeLessThanOrEqual(HOUR_MS);
      expect(given.nowMs).toBeLessThan(given.openSinceMs + given.plan.deadline_ms);
    });
  });
});

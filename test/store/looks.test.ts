// Looks with the real judge, over a plan whose absence counts at once after send window and lag: the database clock is moved on instead
// of waiting.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { LookupAnswer, WriteOutcome } from '../../src/domain/outcome.ts';
import { judgeLook, type Situation } from '../../src/domain/reconciliation.ts';
import { storeAttemptOutcome } from '../../src/store/attempts.store.ts';
import { openReconciliation, recordLook } from '../../src/store/looks.store.ts';
import { OUTCOMES } from '../support/operation-file.ts';
import {
  attempted,
  auditTypes,
  begin,
  claimed,
  move,
  openRegister,
  operationIn,
  stored,
  traceOf,
  type Register,
} from '../support/register.ts';

let register: Register;
let clockMs = 0;
beforeAll(async () => {
  register = await openRegister();
});
afterEach(() => setClock(0));
afterAll(() => register.close());

async function setClock(ms: number): Promise<void> {
  clockMs = ms;
  await register.shiftClock(ms);
}
const pass = (ms: number) => setClock(clockMs + ms);

/** Longer than send window and visibility lag of the plan. */
const PAST_THE_WINDOW_MS = 20_000;
const { unknown, pending, not_sent } = OUTCOMES;

const absent: LookupAnswer = { status: 'absent', evidence: { found: 0 } };
const found = (
  state: 'done' | 'pending' | 'failed',
  match: 'matching' | 'contrary' | 'ambiguous' = 'matching',
): LookupAnswer => ({
  status: 'found',
  match,
  state,
  references: match === 'ambiguous' ? ['pay_1', 'pay_2'] : ['pay_1'],
  result: { payment_id: 'pay_1' },
  evidence: {},
});

async function look(id: string, answer: LookupAnswer) {
  let situation: Situation | undefined;
  const { file, step } = await recordLook(register.pool, id, answer, (given) => {
    situation = given;
    return judgeLook(answer, given);
  });
  return { file, step, situation, status: file.operation.status };
}

/** Attempt 1 was answered so, and reconciliation has begun. */
async function reconciling(outcome: WriteOutcome = unknown): Promise<string> {
  const { id } = await attempted(register, [outcome]);
  await openReconciliation(register.pool, id);
  return id;
}

/** Two agreeing absences past the window; answers the second. */
async function lookTwice(id: string) {
  await pass(PAST_THE_WINDOW_MS);
  await look(id, absent);
  await pass(2_000);
  return look(id, absent);
}

describe('reconciliation', () => {
  it('opens with a lost attempt as UNKNOWN, then RECONCILING, one event each', async () => {
    const { id } = await claimed(register);
    await begin(register, id);
    const file = await openReconciliation(register.pool, id);
    expect(file?.operation.status).toBe('RECONCILING');
    expect(await stored(register, id)).toMatchObject({
      operation: { status: 'RECONCILING' },
      attempts: [{ outcome: 'unknown', error: { code: 'worker_lost' } }],
    });
    expect((await stored(register, id)).operation.unknownSince).not.toBeNull();
    expect((await auditTypes(register, id)).slice(-2)).toEqual([
      'transition IN_PROGRESS>UNKNOWN',
      'transition UNKNOWN>RECONCILING',
    ]);
  });

  it('keeps the state of what the provider has accepted', async () => {
    const { id, file } = await attempted(register, [pending]);
    await openReconciliation(register.pool, id);
    expect(await stored(register, id)).toEqual(file);
  });

  it('lets a person look, and changes nothing by that', async () => {
    const { id } = await operationIn(register, 'NEEDS_REVIEW');
    const before = await traceOf(register, id);
    expect((await openReconciliation(register.pool, id))?.operation.status).toBe('NEEDS_REVIEW');
    expect(await traceOf(register, id)).toEqual(before);
  });

  it('may be opened again and by several at once', async () => {
    const { id } = await attempted(register, [unknown]);
    await Promise.all(Array.from({ length: 5 }, () => openReconciliation(register.pool, id)));
    const moves = (await auditTypes(register, id)).filter((one) => one.endsWith('RECONCILING'));
    expect(moves).toHaveLength(1);
  });

  it.each(['PENDING', 'AWAITING_APPROVAL', 'SUCCEEDED', 'FAILED', 'CANCELED'] as const)(
    'has nothing to ask about in %s',
    async (state) => {
      const { id } = await operationIn(register, state);
      const before = await traceOf(register, id);
      expect(await openReconciliation(register.pool, id)).toBeUndefined();
      expect(await traceOf(register, id)).toEqual(before);
    },
  );
});

describe('a look', () => {
  it('that finds the effect settles, and is evidence and audit in the same transaction', async () => {
    const id = await reconciling();
    expect((await look(id, found('done'))).status).toBe('SUCCEEDED');
    expect((await stored(register, id)).operation).toMatchObject({
      providerReference: 'pay_1',
      result: { payment_id: 'pay_1' },
    });
    expect((await auditTypes(register, id)).slice(-2)).toEqual([
      'lookup',
      'transition RECONCILING>SUCCEEDED',
    ]);
    expect(
      await register.rows(
        `select verdict from evidence where operation_id = $1 and type = 'lookup'`,
        [id],
      ),
    ).toEqual([{ verdict: 'found' }]);
  });

  it('that finds it failed says FAILED', async () => {
    expect((await look(await reconciling(), found('failed'))).status).toBe('FAILED');
  });

  it('that finds it pending changes no state', async () => {
    const id = await reconciling();
    expect(await look(id, found('pending'))).toMatchObject({
      status: 'RECONCILING',
      step: { next: 'look' },
    });
  });

  it.each([
    ['contrary', 'effect_contrary'],
    ['ambiguous', 'effect_ambiguous'],
  ] as const)('that finds it %s goes to a person', async (match, reviewReason) => {
    const id = await reconciling();
    expect((await look(id, found('done', match))).file.operation).toMatchObject({
      status: 'NEEDS_REVIEW',
      reviewReason,
      error: { code: reviewReason },
    });
  });

  it('that can’t be made is written down and made again', async () => {
    const id = await reconciling();
    const { step } = await look(id, { status: 'unavailable', evidence: {} });
    expect(step.next).toBe('look');
    expect((await auditTypes(register, id)).at(-1)).toBe('lookup');
  });

  it('that is undone leaves nothing behind', async () => {
    const id = await reconciling();
    const before = await traceOf(register, id);
    const broken = recordLook(register.pool, id, absent, () => {
      throw new Error('power cut');
    });
    await expect(broken).rejects.toThrow('power cut');
    expect(await traceOf(register, id)).toEqual(before);
  });

  it('knows from the ledger what it needs to judge', async () => {
    const id = await reconciling();
    await pass(PAST_THE_WINDOW_MS);
    await look(id, absent);
    await pass(1_000);
    const { situation } = await look(id, absent);
    const { operation, attempts } = await stored(register, id);
    expect(situation).toMatchObject({
      plan: operation.plan.reconcile,
      openSinceMs: Date.parse(operation.unknownSince ?? ''),
      lastIntentMs: Date.parse(attempts[0]?.startedAt ?? ''),
      accepted: false,
      unknownReasons: ['lost_answer'],
      resends: 0,
      safeResendUntilMs: Date.parse(operation.safeResendUntil ?? ''),
    });
    expect(situation?.absentLooksMs).toHaveLength(1);
  });

  it('after which somebody else has settled decides nothing where it agrees', async () => {
    const id = await reconciling();
    await storeAttemptOutcome(register.pool, id, 1, OUTCOMES.succeeded);
    const { operation } = await stored(register, id);
    expect((await look(id, found('done'))).status).toBe('SUCCEEDED');
    expect((await stored(register, id)).operation).toEqual(operation);
  });

  it('goes to a person where it finds what FAILED denies', async () => {
    const id = await reconciling();
    await storeAttemptOutcome(register.pool, id, 1, OUTCOMES.failed);
    expect((await look(id, found('done'))).status).toBe('NEEDS_REVIEW');
  });

  it('goes to a person where it finds two effects of what SUCCEEDED', async () => {
    const id = await reconciling();
    await storeAttemptOutcome(register.pool, id, 1, OUTCOMES.succeeded);
    expect((await look(id, found('done', 'ambiguous'))).status).toBe('NEEDS_REVIEW');
  });

  it('settles by evidence what only the deadline brought to a person', async () => {
    const id = await reconciling();
    await move(register, id, { to: 'NEEDS_REVIEW', reviewReason: 'reconcile_deadline' });
    expect((await look(id, found('done'))).status).toBe('SUCCEEDED');
  });

  it('leaves to a person what came there for another reason', async () => {
    const id = await reconciling();
    await move(register, id, { to: 'NEEDS_REVIEW', reviewReason: 'effect_ambiguous' });
    expect((await look(id, found('done'))).status).toBe('NEEDS_REVIEW');
  });

  it('past the deadline goes to a person', async () => {
    const id = await reconciling();
    await pass(73 * 3_600_000);
    expect((await look(id, { status: 'unavailable', evidence: {} })).file.operation).toMatchObject({
      status: 'NEEDS_REVIEW',
      reviewReason: 'reconcile_deadline',
    });
  });
});

describe('absence', () => {
  it('counts for nothing within the send window', async () => {
    const id = await reconciling();
    await look(id, absent);
    await pass(2_000);
    expect((await look(id, absent)).step.next).toBe('look');
  });

  it.each([{ status: 'unavailable', evidence: {} } as const, found('pending')])(
    'is not what a look says that found nothing out: $status',
    async (other) => {
      const id = await reconciling();
      await pass(PAST_THE_WINDOW_MS);
      await look(id, other);
      await pass(2_000);
      expect((await look(id, absent)).step.next).toBe('look');
    },
  );

  it('leads to one resend after two looks past the window, then to FAILED', async () => {
    const id = await reconciling();
    expect((await lookTwice(id)).step).toEqual({ next: 'resend' });
    await begin(register, id, 'resend');
    await storeAttemptOutcome(register.pool, id, 2, unknown);
    // The time of absence starts anew with the second intent, that of the deadline does not.
    const { step, situation } = await look(id, absent);
    expect(step.next).toBe('look');
    const { unknownSince } = (await stored(register, id)).operation;
    expect(situation?.openSinceMs).toBe(Date.parse(unknownSince ?? ''));
    const { file, status } = await lookTwice(id);
    expect(status).toBe('FAILED');
    expect(file.operation.error).toMatchObject({ code: 'effect_absent' });
    expect(file.operation.responseBody).not.toBeNull();
  });

  it('does not count a resend that was definitely refused', async () => {
    const id = await reconciling();
    await lookTwice(id);
    await begin(register, id, 'resend');
    await storeAttemptOutcome(register.pool, id, 2, not_sent);
    await pass(300_000);
    expect((await lookTwice(id)).step).toEqual({ next: 'resend' });
  });

  it('is no agreement where the provider showed the effect in between', async () => {
    const id = await reconciling();
    await pass(PAST_THE_WINDOW_MS);
    await look(id, absent);
    await pass(2_000);
    await look(id, found('pending'));
    await pass(2_000);
    expect((await look(id, absent)).step.next).toBe('look');
  });

  it('never leads to a resend or to FAILED where the provider has accepted the write', async () => {
    const id = await reconciling(pending);
    const { step, status } = await lookTwice(id);
    expect(step.next).not.toBe('resend');
    expect(status).not.toBe('FAILED');
  });

  it('never leads to FAILED where any attempt was told that its token is in use', async () => {
    const id = await reconciling({ status: 'unknown', reason: 'in_use', evidence: {} });
    expect((await lookTwice(id)).status).not.toBe('FAILED');
    await begin(register, id, 'resend');
    await storeAttemptOutcome(register.pool, id, 2, unknown);
    expect((await lookTwice(id)).status).toBe('NEEDS_REVIEW');
  });

  it('never leads to a resend where the token names other parameters', async () => {
    const id = await reconciling({ status: 'unknown', reason: 'token_mismatch', evidence: {} });
    expect((await lookTwice(id)).file.operation).toMatchObject({
      status: 'NEEDS_REVIEW',
      reviewReason: 'provider_parameter_mismatch',
    });
  });

  it('leads to no resend once the provider may have forgotten the token', async () => {
    const id = await reconciling();
    await pass(24 * 3_600_000);
    const { step, status } = await lookTwice(id);
    expect([step.next, status]).toEqual(['settle', 'FAILED']);
  });
});

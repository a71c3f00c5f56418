import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OperationState } from '../../src/domain/operation-state.ts';
import type { WriteOutcome } from '../../src/domain/outcome.ts';
import { commitIntent, storeAttemptOutcome } from '../../src/store/attempts.store.ts';
import { openReconciliation } from '../../src/store/looks.store.ts';
import { OUTCOMES } from '../support/operation-file.ts';
import { UNCHANGED } from '../support/desk.ts';
import {
  attempted,
  auditTypes,
  begin,
  claimed,
  move,
  openRegister,
  stored,
  traceOf,
  type Register,
} from '../support/register.ts';

let register: Register;
beforeAll(async () => {
  register = await openRegister();
});
afterAll(() => register.close());

const { succeeded, failed, pending, unknown, not_sent } = OUTCOMES;
const answer = (id: string, number: number, outcome: WriteOutcome) =>
  storeAttemptOutcome(register.pool, id, number, outcome);
const statusOf = async (id: string) => (await stored(register, id)).operation.status;
const evidenceOf = (id: string) =>
  register.rows(
    `select attempt, verdict from evidence
     where operation_id = $1 and type = 'write_answer' order by evidence_id`,
    [id],
  );
const eventsOf = async (id: string, type: string) =>
  (await auditTypes(register, id)).filter((one) => one === type).length;

async function withoutGrant(agent: string, work: () => Promise<void>): Promise<void> {
  await register.pool.query('delete from grants where principal_id = $1', [agent]);
  try {
    await work();
  } finally {
    await register.pool.query(`insert into grants values ($1, 'payment')`, [agent]);
  }
}

/** Attempt 1 is lost, reconciliation resends, and nobody has answered attempt 2 yet. */
async function resending(): Promise<string> {
  const { id } = await attempted(register, [unknown]);
  await openReconciliation(register.pool, id);
  await begin(register, id, 'resend');
  return id;
}

describe('an intent', () => {
  it('is committed with its audit, and the operation is in progress', async () => {
    const { id } = await claimed(register);
    const file = await begin(register, id);
    expect(file).toEqual(await stored(register, id));
    expect(await stored(register, id)).toMatchObject({
      operation: { status: 'IN_PROGRESS', version: 2 },
      attempts: [
        {
          number: 1,
          purpose: 'dispatch',
          requestBody: '{"amount":"1000"}',
          worker: 'w-1',
          outcome: null,
          endedAt: null,
        },
      ],
    });
    expect((await auditTypes(register, id)).slice(2)).toEqual([
      'intent',
      'transition PENDING>IN_PROGRESS',
    ]);
  });

  it('is one where two want it at once', async () => {
    const { id, ...read } = await claimed(register);
    const intent = { number: 1, purpose: 'dispatch', requestBody: '{}', worker: 'w' } as const;
    const results = await Promise.all(
      Array.from({ length: 10 }, () => commitIntent(register.pool, read, intent, UNCHANGED)),
    );
    expect(results.filter(Boolean)).toHaveLength(1);
    expect((await stored(register, id)).attempts).toHaveLength(1);
    expect(await eventsOf(id, 'intent')).toBe(1);
  });

  it('is not begun where the operation has changed since it was read', async () => {
    const { id, ...read } = await claimed(register);
    await move(register, id, { to: 'CANCELED' });
    const before = await traceOf(register, id);
    const intent = { number: 1, purpose: 'dispatch', requestBody: '{}', worker: 'w' } as const;
    expect(await commitIntent(register.pool, read, intent, UNCHANGED)).toBeUndefined();
    expect(await traceOf(register, id)).toEqual(before);
  });

  it('is not begun under a number that is taken', async () => {
    const { id, file } = await attempted(register, [not_sent]);
    const intent = { number: 1, purpose: 'dispatch', requestBody: '{}', worker: 'w' } as const;
    const before = await traceOf(register, id);
    expect(await commitIntent(register.pool, file, intent, UNCHANGED)).toBeUndefined();
    expect(await traceOf(register, id)).toEqual(before);
  });

  it('fixes once for all how long a resend is safe', async () => {
    const { id } = await claimed(register);
    await begin(register, id);
    const first = await stored(register, id);
    const until = first.operation.safeResendUntil ?? '';
    const startedAt = first.attempts[0]?.startedAt ?? '';
    expect(Date.parse(until) - Date.parse(startedAt)).toBe(first.operation.plan.resend_window_ms);
    await answer(id, 1, not_sent);
    await register.shiftClock(60_000);
    await begin(register, id);
    await register.shiftClock(0);
    expect((await stored(register, id)).operation.safeResendUntil).toBe(until);
  });

  it('is not begun for a resend once the provider may have forgotten the token', async () => {
    const { id, file } = await attempted(register, [unknown]);
    await openReconciliation(register.pool, id);
    // The judgement was made in time; the worker that should act on it was away for a day.
    await register.shiftClock(file.operation.plan.resend_window_ms + 1_000);
    try {
      await begin(register, id, 'resend');
    } finally {
      await register.shiftClock(0);
    }
    expect((await stored(register, id)).attempts).toHaveLength(1);
  });
});

describe('a grant that is taken back before the intent', () => {
  it('ends the operation as REJECTED, and nothing is begun', async () => {
    const { id } = await claimed(register);
    await withoutGrant('acct_a.agent', async () => {
      expect(await begin(register, id)).toBe('ended');
    });
    const { operation, attempts } = await stored(register, id);
    expect(attempts).toEqual([]);
    expect(operation).toMatchObject({ status: 'REJECTED', error: { code: 'grant_revoked' } });
    expect(operation.responseBody).not.toBeNull();
    expect(await eventsOf(id, 'intent')).toBe(0);
    expect(
      await register.count('select count(*) from business_keys where operation_id = $1', [id]),
    ).toBe(0);
  });

  it('leaves other principals alone', async () => {
    const { id } = await claimed(register);
    await withoutGrant('acct_a.agent_2', async () => {
      expect(await begin(register, id)).toMatchObject({ operation: { status: 'IN_PROGRESS' } });
    });
  });

  it('ends it as FAILED where the provider has only refused so far', async () => {
    const { id } = await attempted(register, [not_sent]);
    await withoutGrant('acct_a.agent', async () => {
      await begin(register, id);
    });
    expect(await stored(register, id)).toMatchObject({
      operation: { status: 'FAILED', error: { code: 'grant_revoked' } },
      attempts: [{ number: 1 }],
    });
  });

  it('goes to a person where an attempt may have acted', async () => {
    const { id } = await attempted(register, [unknown]);
    await openReconciliation(register.pool, id);
    await withoutGrant('acct_a.agent', async () => {
      await begin(register, id, 'resend');
    });
    expect(await stored(register, id)).toMatchObject({
      operation: { status: 'NEEDS_REVIEW' },
      attempts: [{ number: 1 }],
    });
  });
});

describe('the outcome of an attempt', () => {
  it.each<[WriteOutcome, OperationState]>([
    [succeeded, 'SUCCEEDED'],
    [failed, 'FAILED'],
    [unknown, 'UNKNOWN'],
    [pending, 'IN_PROGRESS'],
    [not_sent, 'IN_PROGRESS'],
  ])('is stored with evidence, audit and state: $status', async (outcome, state) => {
    const { id, file } = await attempted(register, [outcome]);
    expect(file.operation.status).toBe(state);
    expect(file.attempts).toMatchObject([{ number: 1, outcome: outcome.status }]);
    expect(file.attempts[0]?.endedAt).not.toBeNull();
    expect(await evidenceOf(id)).toEqual([{ attempt: 1, verdict: outcome.status }]);
    expect(await eventsOf(id, 'provider_answer')).toBe(1);
    expect(await eventsOf(id, 'sent')).toBe(outcome.status === 'not_sent' ? 0 : 1);
  });

  it('of a success keeps result and reference', async () => {
    const { file } = await attempted(register, [succeeded]);
    expect(file.operation).toMatchObject({
      result: succeeded.result,
      providerReference: 'pay_1',
      error: null,
    });
  });

  it('of an acceptance keeps the reference', async () => {
    const { file } = await attempted(register, [pending]);
    expect(file.operation.providerReference).toBe('pay_1');
  });

  it('of a lost answer says why and since when', async () => {
    const { file } = await attempted(register, [unknown]);
    expect(file.operation.lastError).toMatchObject({ code: 'lost_answer' });
    expect(file.operation.unknownSince).toBe(file.attempts[0]?.endedAt);
  });

  it('is shown in the stored bytes together with its attempt', async () => {
    const { file } = await attempted(register, [not_sent, succeeded]);
    expect(JSON.parse(file.operation.responseBody ?? '')).toMatchObject({
      status: 'SUCCEEDED',
      result: succeeded.result,
      attempts: [
        { number: 1, outcome: 'not_sent' },
        { number: 2, outcome: 'succeeded' },
      ],
    });
  });

  it.each(Object.values(OUTCOMES))(
    'is stored once where it comes twice: $status',
    async (outcome) => {
      const { id } = await attempted(register, [outcome]);
      const before = await traceOf(register, id);
      const again = await answer(id, 1, outcome);
      expect(await traceOf(register, id)).toEqual(before);
      expect(again).toMatchObject(await stored(register, id));
    },
  );

  it('is stored once where it comes ten times at once', async () => {
    const { id } = await claimed(register);
    await begin(register, id);
    await Promise.all(Array.from({ length: 10 }, () => answer(id, 1, succeeded)));
    expect(await evidenceOf(id)).toHaveLength(1);
    expect((await auditTypes(register, id)).filter((one) => one.endsWith('SUCCEEDED'))).toEqual([
      'transition IN_PROGRESS>SUCCEEDED',
    ]);
  });

  it('fails the operation with the fifth refusal, and not before', async () => {
    const four = await attempted(register, Array(4).fill(not_sent));
    expect(four.file.operation.status).toBe('IN_PROGRESS');
    const five = await attempted(register, Array(5).fill(not_sent));
    expect(five.file.operation).toMatchObject({
      status: 'FAILED',
      error: { code: 'provider_unavailable' },
    });
  });

  it('of an operation that is not there is an error', async () => {
    await expect(answer('op_none', 1, succeeded)).rejects.toThrow('op_none');
  });
});

describe('a late answer', () => {
  it.each([succeeded, failed])('settles what was UNKNOWN: $status', async (outcome) => {
    const { id } = await attempted(register, [unknown]);
    await answer(id, 1, outcome);
    const { operation, attempts } = await stored(register, id);
    expect(operation.status).toBe(outcome.status === 'succeeded' ? 'SUCCEEDED' : 'FAILED');
    expect(attempts).toMatchObject([{ outcome: outcome.status }]);
    expect(await evidenceOf(id)).toHaveLength(2);
  });

  it('settles what was taken for lost with its worker', async () => {
    const { id } = await claimed(register);
    await begin(register, id);
    await openReconciliation(register.pool, id);
    expect(await statusOf(id)).toBe('RECONCILING');
    await answer(id, 1, succeeded);
    expect(await statusOf(id)).toBe('SUCCEEDED');
  });

  it('settles what was accepted', async () => {
    const { id } = await attempted(register, [pending]);
    await answer(id, 1, succeeded);
    expect(await statusOf(id)).toBe('SUCCEEDED');
  });

  it('of success from an older attempt settles as well', async () => {
    const id = await resending();
    await answer(id, 1, succeeded);
    expect(await statusOf(id)).toBe('SUCCEEDED');
  });

  it('of failure from an older attempt is only recorded', async () => {
    const id = await resending();
    await answer(id, 1, failed);
    expect(await statusOf(id)).toBe('RECONCILING');
    expect(await evidenceOf(id)).toEqual([
      { attempt: 1, verdict: 'unknown' },
      { attempt: 1, verdict: 'failed' },
    ]);
  });

  it('of failure from an older attempt leaves a success and its bytes as they are', async () => {
    const id = await resending();
    await answer(id, 2, succeeded);
    const { operation } = await stored(register, id);
    await answer(id, 1, failed);
    expect((await stored(register, id)).operation).toEqual(operation);
  });

  it('of success from an older attempt contradicts FAILED: a person looks, the bytes are withdrawn', async () => {
    const id = await resending();
    await answer(id, 2, failed);
    expect(await statusOf(id)).toBe('FAILED');
    await answer(id, 1, succeeded);
    expect((await stored(register, id)).operation).toMatchObject({
      status: 'NEEDS_REVIEW',
      reviewReason: 'evidence_contradicts',
      responseBody: null,
      providerReference: 'pay_1',
    });
  });

  it.each([
    { first: succeeded, second: failed },
    { first: failed, second: succeeded },
    { first: not_sent, second: succeeded },
  ])(
    'that is definite and contrary to a definite one of the same attempt goes to a person: $first.status, $second.status',
    async ({ first, second }) => {
      // Five refusals, so that "not sent" has settled it, too.
      const before: WriteOutcome[] =
        first.status === 'not_sent' ? Array(5).fill(not_sent) : [first];
      const { id } = await attempted(register, before);
      await answer(id, before.length, second);
      expect(await statusOf(id)).toBe('NEEDS_REVIEW');
    },
  );

  it('of success loses nothing where the attempt was taken for refused and another try is due', async () => {
    const { id } = await attempted(register, [not_sent]);
    await answer(id, 1, succeeded);
    expect(['SUCCEEDED', 'NEEDS_REVIEW']).toContain(await statusOf(id));
  });

  it.each([unknown, pending, not_sent])(
    'that says less than the settled one is kept as evidence and changes nothing: $status',
    async (outcome) => {
      const { id, file } = await attempted(register, [succeeded]);
      await answer(id, 1, outcome);
      expect(await stored(register, id)).toEqual(file);
      expect(await evidenceOf(id)).toEqual([
        { attempt: 1, verdict: 'succeeded' },
        { attempt: 1, verdict: outcome.status },
      ]);
    },
  );

  it('decides nothing about what a person has', async () => {
    const { id } = await attempted(register, [unknown]);
    await move(register, id, { to: 'NEEDS_REVIEW', reviewReason: 'effect_ambiguous' });
    await answer(id, 1, succeeded);
    expect(await statusOf(id)).toBe('NEEDS_REVIEW');
    expect(await evidenceOf(id)).toHaveLength(2);
  });

  it('settles what only the deadline brought to a person', async () => {
    const { id } = await attempted(register, [unknown]);
    await move(register, id, { to: 'NEEDS_REVIEW', reviewReason: 'reconcile_deadline' });
    await answer(id, 1, succeeded);
    expect(await statusOf(id)).toBe('SUCCEEDED');
  });
});

describe('a refused resend', () => {
  it('decides nothing: the state stays, and a later resend is allowed', async () => {
    const id = await resending();
    await answer(id, 2, not_sent);
    expect(await statusOf(id)).toBe('RECONCILING');
    expect(await begin(register, id, 'resend')).toMatchObject({
      operation: { status: 'RECONCILING' },
    });
  });
});

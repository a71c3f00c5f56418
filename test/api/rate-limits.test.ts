// Limits per principal, small here so that a handful of requests meets them.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { apiInProcess, type Answer, type ApiInProcess } from '../support/api-in-process.ts';
import { openRegister, type Register } from '../support/register.ts';
import { until } from '../support/until.ts';

const SUBMITS_PER_S = 5;
const READS_PER_S = 10;

let register: Register;
let api: ApiInProcess;

beforeAll(async () => {
  register = await openRegister();
  api = await apiInProcess(register, {
    RATE_LIMIT_SUBMITS_PER_S: String(SUBMITS_PER_S),
    RATE_LIMIT_READS_PER_S: String(READS_PER_S),
  });
});
afterAll(async () => {
  await api.stop();
  await register.close();
});
beforeEach(async () => {
  for (const principal of ['acct_a.agent', 'acct_a.agent_2']) {
    await until(
      'the limit has passed',
      async () => (await refusedSubmit(principal)).status !== 429,
    );
  }
});

/** Refused by its media type wherever the limit lets it through. */
const refusedSubmit = (principal = 'acct_a.agent') =>
  api.submit({ key: randomUUID(), principal, contentType: 'text/plain' });

const many = (count: number, send: (n: number) => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => send(n)));

const limited = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 429);

/** Submits until one is refused. */
const useUp = () =>
  until('the limit is met', async () => limited(await many(10, () => refusedSubmit())).length > 0);

const keysClaimed = () => register.count('select count(*) from idempotency_keys');

describe('submits beyond the limit', () => {
  it('are 429 with whole seconds to wait, and claim nothing', async () => {
    const before = await keysClaimed();
    const answers = await many(30, () => api.submit({ key: randomUUID() }));
    const refused = limited(answers);
    expect(refused.length).toBeGreaterThan(0);
    for (const { headers, body } of refused) {
      expect(body.code).toBe('rate_limited');
      expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
      expect(headers['content-type']).toContain('application/problem+json');
    }
    const accepted = answers.filter(({ status }) => status === 202);
    expect(accepted.length + refused.length).toBe(30);
    expect(await keysClaimed()).toBe(before + accepted.length);
  });

  it('are refused before their media type and body are looked at', async () => {
    const answers = await many(30, () => refusedSubmit());
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([415, 429]));
  });

  it('include the repeats of a known key', async () => {
    const key = randomUUID();
    expect((await api.submit({ key })).status).toBe(202);
    const answers = await many(20, () => api.submit({ key }));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202, 429]));
  });

  it('pass again after the time that they were told', async () => {
    await useUp();
    const key = randomUUID();
    await until('a submit passes', async () => (await api.submit({ key })).status === 202, 5_000);
  });
});

describe('a used-up bucket of submits', () => {
  it('leaves the reads of the same principal', async () => {
    await useUp();
    expect((await api.read('op_unknown')).status).toBe(404);
  });

  it('leaves other principals of the account', async () => {
    await useUp();
    expect((await refusedSubmit('acct_a.agent_2')).status).toBe(415);
  });
});

describe('reads beyond the limit', () => {
  it('are 429 and leave submits', async () => {
    const answers = await many(50, () => api.read('op_unknown'));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404, 429]));
    expect((await refusedSubmit()).status).toBe(415);
  });
});

describe('those who are not authenticated', () => {
  it('have no bucket: they are told that, however often they ask', async () => {
    const answers = await many(30, () => api.submit({ key: randomUUID(), secret: 'wrong' }));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
  });
});

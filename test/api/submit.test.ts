import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openReconciliation } from '../../src/store/looks.store.ts';
import { OUTCOMES } from '../support/operation-file.ts';
import { newKey, paymentBody, startTestApi, work, type TestApi } from '../support/api.ts';
import { fakeStarter } from '../support/fake-starter.ts';
import { auditTypes, move, openRegister, stored, type Register } from '../support/register.ts';

let register: Register;
let api: TestApi;
beforeAll(async () => {
  register = await openRegister();
  api = await startTestApi(register);
});
afterAll(async () => {
  await api.stop();
  await register.close();
});

const claims = () => register.count('select count(*) from operations');
const refusals = (key: string) =>
  register.rows(
    `select principal_id, operation_id, route, detail from audit_events
     where type = 'refused' and idempotency_key = $1`,
    [key],
  );

const mode = (value: string) => ({ headers: { 'idempotency-mode': value } });
const wait = (seconds: number | string) => ({ headers: { prefer: `wait=${seconds}` } });

/** A submitted payment that a worker has carried out. */
async function settled(outcome = OUTCOMES.succeeded as Parameters<typeof work>[2]) {
  const [key, body] = [newKey(), paymentBody()];
  const { body: first } = await api.submit(key, body);
  await work(register, first['operation_id'], outcome);
  return { key, body, id: String(first['operation_id']) };
}

describe('a new submit', () => {
  it('is 202 as created, with Location and Retry-After', async () => {
    const answer = await api.submit(newKey(), paymentBody());
    expect(answer.status).toBe(202);
    expect(answer.headers).toMatchObject({
      'operation-disposition': 'created',
      location: `/agent/operations/${String(answer.body['operation_id'])}`,
      'retry-after': expect.stringMatching(/^[1-9]\d*$/),
      'content-type': expect.stringMatching(/^application\/json/),
    });
    expect(answer.headers).not.toHaveProperty('idempotent-replayed');
    expect(answer.headers).not.toHaveProperty('etag');
    expect(answer.headers).not.toHaveProperty('x-powered-by');
  });

  it('shows the operation with the canonical command', async () => {
    const [key, body] = [newKey(), paymentBody({ currency: 'usd', amount: '10' })];
    const answer = await api.submit(key, body);
    expect(answer.body).toMatchObject({
      kind: 'payment',
      kind_version: 1,
      status: 'PENDING',
      next_action: 'poll',
      idempotency_key: key,
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      command: { ...body, amount: '10.00', currency: 'USD', capture: 'automatic' },
      agent_id: 'acct_a.agent',
      connection: 'sandbox_acct_a',
      provider: { adapter: 'sandbox', token: key, reference: null },
      attempts: [],
      approval: null,
      settled_at: null,
    });
  });

  it('tells the engine once, and needs no relay then', async () => {
    const answer = await api.submit(newKey(), paymentBody());
    const id = String(answer.body['operation_id']);
    await expect.poll(() => api.starter.started.filter((one) => one === id)).toHaveLength(1);
    const messages = () =>
      register.count('select count(*) from outbox_messages where operation_id = $1', [id]);
    await expect.poll(messages).toBe(0);
  });

  it('waits for a person where policy says so, and is 202 all the same', async () => {
    const answer = await api.submit(newKey(), paymentBody({ amount: '1000.00' }));
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({
      status: 'AWAITING_APPROVAL',
      next_action: 'await_approval',
      approval: { status: 'pending', approval_id: expect.stringMatching(/^apr_/) },
    });
  });

  it('keeps agent run and trace of the caller', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const answer = await api.submit(newKey(), paymentBody(), {
      headers: { 'agent-run-id': 'run-7', traceparent },
    });
    expect(answer.body['agent_run']).toBe('run-7');
    const { operation } = await stored(register, String(answer.body['operation_id']));
    expect(operation).toMatchObject({ agentRun: 'run-7', traceparent });
  });

  it('ignores a trace that is none, and refuses an agent run that is none', async () => {
    const ignored = await api.submit(newKey(), paymentBody(), {
      headers: { traceparent: 'garbage' },
    });
    expect(ignored.status).toBe(202);
    const refused = await api.submit(newKey(), paymentBody(), {
      headers: { 'agent-run-id': 'a b' },
    });
    expect([refused.status, refused.body['code']]).toEqual([400, 'invalid_parameter']);
  });

  it('has one operation per account, whoever of it asks, and none of another’s', async () => {
    const [key, body] = [newKey(), paymentBody()];
    const a = await api.submit(key, body);
    const colleague = await api.submit(key, body, { as: 'acct_a.agent_2' });
    const b = await api.submit(key, body, { as: 'acct_b.agent' });
    expect(colleague.body['operation_id']).toBe(a.body['operation_id']);
    expect(b.headers['operation-disposition']).toBe('created');
    expect(b.body['operation_id']).not.toBe(a.body['operation_id']);
    expect(b.body['fingerprint']).not.toBe(a.body['fingerprint']);
  });

  it('is 202 while the engine is away: the claim and its message are durable', async () => {
    const away = fakeStarter(() => {
      throw new Error('away');
    });
    const other = await startTestApi(register, { starter: away });
    try {
      const answer = await other.submit(newKey(), paymentBody());
      expect(answer.status).toBe(202);
      const { operation_id: id } = answer.body;
      expect(
        await register.count('select count(*) from outbox_messages where operation_id = $1', [id]),
      ).toBe(1);
    } finally {
      await other.stop();
    }
  });
});

describe('a repeat of the same key', () => {
  it('is 202 as in_progress with the same operation while it is not settled', async () => {
    const [key, body] = [newKey(), paymentBody()];
    const first = await api.submit(key, body);
    const again = await api.submit(key, body);
    expect(again.status).toBe(202);
    expect(again.headers).toMatchObject({
      'operation-disposition': 'in_progress',
      location: first.headers['location'],
      'retry-after': expect.any(String),
    });
    expect(again.headers).not.toHaveProperty('idempotent-replayed');
    expect(again.text).toBe(first.text);
  });

  it('returns the stored bytes once it is settled', async () => {
    const { key, body, id } = await settled();
    const answers = [await api.submit(key, body), await api.submit(key, body)];
    const read = await api.call('GET', `/agent/operations/${id}`);
    const { operation } = await stored(register, id);
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(answer.headers).toMatchObject({
        'operation-disposition': 'replayed',
        'idempotent-replayed': 'true',
        location: `/agent/operations/${id}`,
      });
      expect(answer.text).toBe(operation.responseBody);
    }
    expect(read.text).toBe(operation.responseBody);
    expect(answers[0]?.body).toMatchObject({
      status: 'SUCCEEDED',
      result: { payment_state: 'captured' },
      attempts: [{ number: 1, outcome: 'succeeded' }],
    });
  });

  it('returns the stored bytes of a failure just so', async () => {
    const { key, body, id } = await settled(OUTCOMES.failed);
    const answer = await api.submit(key, body);
    expect([answer.status, answer.headers['operation-disposition']]).toEqual([200, 'replayed']);
    expect(answer.body).toMatchObject({ status: 'FAILED', safe_to_use_new_key: true });
    expect(answer.text).toBe((await stored(register, id)).operation.responseBody);
  });

  it('is 202 again after NEEDS_REVIEW has withdrawn the bytes, and says to ask an operator', async () => {
    const { key, body, id } = await settled();
    await move(register, id, { to: 'NEEDS_REVIEW', reviewReason: 'evidence_contradicts' });
    const answer = await api.submit(key, body);
    expect([answer.status, answer.headers['operation-disposition']]).toEqual([202, 'in_progress']);
    expect(answer.body).toMatchObject({
      status: 'NEEDS_REVIEW',
      next_action: 'contact_operator',
      safe_to_use_new_key: false,
    });
    expect(answer.headers).not.toHaveProperty('idempotent-replayed');
  });

  it('is the same request however it is spelled: order, defaults, blanks, case of the currency', async () => {
    const [key, body] = [newKey(), paymentBody()];
    await api.submit(key, body);
    for (const same of [
      Object.fromEntries(Object.entries(body).toReversed()),
      { ...body, capture: 'automatic' },
      { ...body, currency: 'usd', amount: '10' },
      { ...body, customer_id: '  cus_1 ' },
    ]) {
      expect((await api.submit(key, same)).status).toBe(202);
    }
    expect((await api.submit(`"${key}"`, JSON.stringify(body, null, 4))).status).toBe(202);
  });

  it('tells UNKNOWN and RECONCILING to wait and to submit no new one', async () => {
    const { key, body, id } = await settled(OUTCOMES.unknown);
    await openReconciliation(register.pool, id);
    const answer = await api.submit(key, body);
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({ status: 'RECONCILING', retry: 'wait' });
    expect(answer.body['message']).toMatch(/do not submit a new one/i);
    expect(answer.headers['retry-after']).toMatch(/^[1-9]/);
  });

  it('is one operation, whichever of 20 concurrent submits came first', async () => {
    for (let round = 0; round < 3; round++) {
      const [key, body] = [newKey(), paymentBody()];
      const answers = await Promise.all(Array.from({ length: 20 }, () => api.submit(key, body)));
      expect(new Set(answers.map((one) => one.body['operation_id'])).size).toBe(1);
      expect(new Set(answers.map((one) => one.text)).size).toBe(1);
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(202));
      const dispositions = answers.map(({ headers }) => headers['operation-disposition']);
      expect(dispositions.filter((one) => one === 'created')).toHaveLength(1);
      expect(dispositions.filter((one) => one === 'in_progress')).toHaveLength(19);
    }
  });

  it('is one operation where 20 concurrent submits of one key differ: the others are mismatches', async () => {
    const key = newKey();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => api.submit(key, paymentBody())),
    );
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    const refused = answers.filter(({ status }) => status === 409);
    expect(refused).toHaveLength(19);
    expect(new Set(refused.map(({ body }) => body['code']))).toEqual(
      new Set(['fingerprint_mismatch']),
    );
    expect(new Set(answers.map(({ body }) => body['operation_id'])).size).toBe(1);
  });
});

describe('another request under a known key', () => {
  it('is 409 with operation id and state, without payload, and audited', async () => {
    const { key, body, id } = await settled();
    const answer = await api.submit(key, { ...body, amount: '11.00' });
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({
      code: 'fingerprint_mismatch',
      operation_id: id,
      operation_status: 'SUCCEEDED',
      next_action: 'do_not_retry',
      retry: 'ask_human',
      safe_to_use_new_key: false,
    });
    expect(answer.text).not.toMatch(/cus_1|11\.00|10\.00|inv-/);
    expect(await refusals(key)).toEqual([
      {
        principal_id: 'acct_a.agent',
        operation_id: id,
        route: '/agent/operations/payment',
        detail: { code: 'fingerprint_mismatch' },
      },
    ]);
  });

  it.each([
    ['amount', { amount: '10.01' }],
    ['currency', { currency: 'EUR' }],
    ['customer', { customer_id: 'cus_2' }],
    ['invoice', { invoice_id: 'inv-other' }],
    ['capture', { capture: 'manual' }],
    ['memo', { memo: '' }],
    ['case of an identifier', { customer_id: 'CUS_1' }],
    ['intended repeat', { intended_repeat_of: 'op_1' }],
  ])('is one with another %s', async (_, other) => {
    const [key, body] = [newKey(), paymentBody()];
    await api.submit(key, body);
    const answer = await api.submit(key, { ...body, ...other });
    expect(answer.body['code']).toBe('fingerprint_mismatch');
  });

  it('changes nothing about the first', async () => {
    const { key, body, id } = await settled();
    const before = await stored(register, id);
    await api.submit(key, { ...body, amount: '11.00' });
    expect(await stored(register, id)).toEqual(before);
  });
});

describe('another key for a business that is taken', () => {
  it('is 409 with the operation id of the first, and leaves its key free', async () => {
    const body = paymentBody();
    const [first, second] = [newKey(), newKey()];
    const { body: winner } = await api.submit(first, body);
    const before = await claims();
    const answer = await api.submit(second, body);
    expect([answer.status, answer.body['code']]).toEqual([409, 'business_duplicate']);
    expect(answer.body['operation_id']).toBe(winner['operation_id']);
    expect(await claims()).toBe(before);
    expect((await api.submit(second, paymentBody())).status).toBe(202);
  });

  it('is 202 once the first has definitely failed', async () => {
    const { body } = await settled(OUTCOMES.failed);
    expect((await api.submit(newKey(), body)).status).toBe(202);
  });

  it('is 409 for ever after a success', async () => {
    const { body } = await settled();
    expect((await api.submit(newKey(), body)).body['code']).toBe('business_duplicate');
  });

  it('is none of another account', async () => {
    const body = paymentBody();
    await api.submit(newKey(), body);
    expect((await api.submit(newKey(), body, { as: 'acct_b.agent' })).status).toBe(202);
  });

  it('lets one of 20 concurrent keys through, and names it to the others', async () => {
    const body = paymentBody();
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.submit(newKey(), body)));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(new Set(answers.map((one) => one.body['operation_id'])).size).toBe(1);
  });
});

describe('Idempotency-Mode', () => {
  it('retry with an unknown key is 404 and creates nothing', async () => {
    const [key, before] = [newKey(), await claims()];
    const answer = await api.submit(key, paymentBody(), mode('retry'));
    expect([answer.status, answer.body['code']]).toEqual([404, 'unknown_key']);
    expect(await claims()).toBe(before);
  });

  it('retry with a known key is answered like any repeat', async () => {
    const { key, body } = await settled();
    const answer = await api.submit(key, body, mode('retry'));
    expect([answer.status, answer.headers['operation-disposition']]).toEqual([200, 'replayed']);
  });

  it('first with a known key is 409 with its operation', async () => {
    const { key, body, id } = await settled();
    const answer = await api.submit(key, body, mode('first'));
    expect([answer.status, answer.body['code']]).toEqual([409, 'key_known']);
    expect(answer.body).toMatchObject({ operation_id: id, operation_status: 'SUCCEEDED' });
  });

  it('first with a new key claims it, and is not part of the fingerprint', async () => {
    const [key, body] = [newKey(), paymentBody()];
    expect((await api.submit(key, body, mode('first'))).status).toBe(202);
    expect((await api.submit(key, body, mode('any'))).status).toBe(202);
    expect((await api.submit(key, body)).status).toBe(202);
  });

  it.each(['First', 'always', '', 'first, retry'])('is refused as "%s"', async (value) => {
    const key = newKey();
    const answer = await api.submit(key, paymentBody(), mode(value));
    expect([answer.status, answer.body['code']]).toEqual([400, 'invalid_parameter']);
  });
});

describe('Prefer: wait', () => {
  it('is 200 as created with the stored bytes where it settles in time', async () => {
    const working = fakeStarter(({ operationId }) => work(register, operationId));
    const other = await startTestApi(register, { starter: working });
    try {
      const answer = await other.submit(newKey(), paymentBody(), wait(30));
      expect([answer.status, answer.headers['operation-disposition']]).toEqual([200, 'created']);
      const { operation } = await stored(register, String(answer.body['operation_id']));
      expect(answer.text).toBe(operation.responseBody);
      expect(answer.headers).not.toHaveProperty('idempotent-replayed');
    } finally {
      await other.stop();
    }
  });

  it('is 202 where it does not settle in time', async () => {
    const started = performance.now();
    const answer = await api.submit(newKey(), paymentBody(), wait(1));
    expect(answer.status).toBe(202);
    expect(performance.now() - started).toBeGreaterThan(900);
  });

  it('holds nobody for what a person has to decide', async () => {
    const started = performance.now();
    const answer = await api.submit(newKey(), paymentBody({ amount: '5000.00' }), wait(30));
    expect(answer.body['status']).toBe('AWAITING_APPROVAL');
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('holds a repeat, and answers it as replayed once it is settled', async () => {
    const [key, body] = [newKey(), paymentBody()];
    const { body: first } = await api.submit(key, body);
    const held = api.submit(key, body, wait(30));
    await work(register, first['operation_id']);
    const answer = await held;
    expect([answer.status, answer.headers['operation-disposition']]).toEqual([200, 'replayed']);
    expect(answer.headers['idempotent-replayed']).toBe('true');
  });

  it('holds a read', async () => {
    const { body: first } = await api.submit(newKey(), paymentBody());
    const path = `/agent/operations/${String(first['operation_id'])}`;
    const held = api.call('GET', path, wait(30));
    await work(register, first['operation_id']);
    const answer = await held;
    expect(answer.body['status']).toBe('SUCCEEDED');
  });

  it.each(['', 'x', '-1', '1.5', '99999999999999'])('is ignored as wait=%s', async (seconds) => {
    const started = performance.now();
    expect((await api.submit(newKey(), paymentBody(), wait(seconds))).status).toBe(202);
    expect(performance.now() - started).toBeLessThan(1_500);
  });
});

describe('the audit of submits', () => {
  it('has requested and claimed of a new one', async () => {
    const answer = await api.submit(newKey(), paymentBody());
    expect(await auditTypes(register, String(answer.body['operation_id']))).toEqual([
      'requested',
      'claimed',
    ]);
  });

  it('has the refusal by grant, without any operation', async () => {
    const key = newKey();
    const answer = await api.submit(key, paymentBody(), { as: 'acct_a.agent_bare' });
    expect(answer.status).toBe(403);
    expect(await refusals(key)).toEqual([
      {
        principal_id: 'acct_a.agent_bare',
        operation_id: null,
        route: '/agent/operations/payment',
        detail: { code: 'forbidden' },
      },
    ]);
  });

  it('has no command, no amount and no customer in any event', async () => {
    const { key, body } = await settled();
    await api.submit(key, { ...body, amount: '12.34', memo: 'secret words' });
    const events = await register.rows('select to_jsonb(a)::text as text from audit_events a');
    expect(JSON.stringify(events)).not.toMatch(/cus_1|12\.34|secret words|inv-/);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newKey, paymentBody, startTestApi, work, type TestApi } from '../support/api.ts';
import { OUTCOMES } from '../support/operation-file.ts';
import { openRegister, type Register } from '../support/register.ts';

let register: Register;
let api: TestApi;
beforeAll(async () => {
  register = await openRegister();
  await register.rows(
    `insert into grants (principal_id, kind)
     select 'acct_a.agent', unnest(array['ticket', 'refund', 'payment_capture'])`,
  );
  api = await startTestApi(register);
});
afterAll(async () => {
  await api.stop();
  await register.close();
});

async function submit(kind: string, body: object, key = newKey()): Promise<string> {
  const answer = await api.call('POST', `/agent/operations/${kind}`, {
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body,
  });
  expect([answer.status, answer.text]).toEqual([expect.any(Number), expect.any(String)]);
  expect(answer.status).toBeLessThan(300);
  return String(answer.body['operation_id']);
}

async function related(id: string, as = 'acct_a.agent'): Promise<Record<string, unknown>[]> {
  const answer = await api.call('GET', `/agent/operations/${id}/related`, { as });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  expect(answer.body['truncated']).toBe(false);
  return answer.body['related'] as Record<string, unknown>[];
}

async function paid(members: object = {}): Promise<string> {
  const id = await submit('payment', paymentBody(members));
  await work(register, id);
  return id;
}

const refundOf = (payment_operation_id: string, amount: string) =>
  submit('refund', { payment_operation_id, amount, currency: 'USD', reason: 'returned' });

describe('what is related to an operation', () => {
  it('is nothing for one that stands alone', async () => {
    expect(await related(await submit('payment', paymentBody()))).toEqual([]);
  });

  it('is each refund of a payment with its share, also one that failed and gave it back', async () => {
    const payment = await paid();
    const failed = await refundOf(payment, '4.00');
    await work(register, failed, OUTCOMES.failed);
    const open = await refundOf(payment, '3.00');
    const [first, second] = await related(payment);
    expect(first).toEqual({
      relation: 'compensation',
      operation_id: failed,
      kind: 'refund',
      status: 'FAILED',
      idempotency_key: expect.any(String),
      created_at: expect.any(String),
      amount: '4.00',
      currency: 'USD',
      holds_share: false,
    });
    expect(second).toMatchObject({ operation_id: open, amount: '3.00', holds_share: true });
  });

  it('is the payment, seen from its refund', async () => {
    const payment = await paid();
    const refund = await refundOf(payment, '4.00');
    expect(await related(refund)).toMatchObject([
      { relation: 'compensates', operation_id: payment, kind: 'payment', status: 'SUCCEEDED' },
    ]);
  });

  it('is a capture, which undoes nothing', async () => {
    const payment = await paid({ capture: 'manual' });
    const capture = await submit('payment_capture', { payment_operation_id: payment });
    expect(await related(payment)).toMatchObject([
      { relation: 'acted_on_by', operation_id: capture },
    ]);
    expect(await related(capture)).toMatchObject([{ relation: 'acts_on', operation_id: payment }]);
  });

  it('is every other key that stands for it', async () => {
    const body = { project: 'OPS', title: 'T', source_event_id: 'evt-related' };
    const [first, second] = [newKey(), newKey()];
    const id = await submit('ticket', body);
    await submit('ticket', { ...body, title: 'Other words' }, first);
    await submit('ticket', { ...body, title: 'Others again' }, second);
    expect(await related(id)).toMatchObject([
      { relation: 'reused_by', operation_id: id, idempotency_key: first },
      { relation: 'reused_by', operation_id: id, idempotency_key: second },
    ]);
  });

  it('is the operation that holds the business key of one that was reopened', async () => {
    const [one, other] = [
      await submit('payment', paymentBody()),
      await submit('payment', paymentBody()),
    ];
    await register.rows('update operations set conflicts_with = $2 where operation_id = $1', [
      one,
      other,
    ]);
    expect(await related(one)).toMatchObject([{ relation: 'conflicts_with', operation_id: other }]);
  });
});

describe('who asks what is related', () => {
  it('sees the granted kinds only where it is an agent', async () => {
    const payment = await paid();
    const refund = await refundOf(payment, '4.00');
    expect(await related(payment, 'acct_a.agent_2')).toEqual([]);
    expect(await related(payment, 'acct_a.operator')).toMatchObject([{ operation_id: refund }]);
  });

  it('learns of no operation of another account, nor of one that it is not granted', async () => {
    const payment = await paid();
    for (const as of ['acct_b.agent', 'acct_b.operator', 'acct_a.agent_bare']) {
      const [foreign, never] = [
        await api.call('GET', `/agent/operations/${payment}/related`, { as }),
        await api.call('GET', '/agent/operations/op_never/related', { as }),
      ];
      expect(foreign.status).toBe(404);
      expect(foreign.text).toBe(never.text);
    }
  });

  it.each(['%00', '%F0%9F%92%A9', 'a%2Fb', 'x'.repeat(500)])(
    'finds nothing under an id that can be none: %s',
    async (id) => {
      for (const path of [`/agent/operations/${id}/related`, `/agent/operations/${id}`]) {
        expect((await api.call('GET', path)).status).toBe(404);
      }
    },
  );

  it('is refused as an auditor, and with a parameter', async () => {
    const path = '/agent/operations/op_1/related';
    expect((await api.call('GET', path, { as: 'acct_a.auditor' })).status).toBe(403);
    expect((await api.call('GET', `${path}?limit=1`)).body).toMatchObject({ parameter: 'limit' });
  });
});

// A key is no secret: whoever guesses or overhears one learns by it what they may read anyway, and nothing else.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newKey, paymentBody, startTestApi, work, type TestApi } from '../support/api.ts';
import { openRegister, type Register } from '../support/register.ts';

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

/** A settled payment of acct_a.agent. */
async function settled() {
  const [key, body] = [newKey(), paymentBody()];
  const id = String((await api.submit(key, body)).body['operation_id']);
  await work(register, id);
  return { key, body, id, text: (await api.submit(key, body)).text };
}
const rowsOf = (key: string) =>
  register.rows('select account_id from idempotency_keys where idempotency_key = $1', [key]);

describe('a key of another account', () => {
  it('is unknown: a retry of it creates nothing, as of a key that never was', async () => {
    const { key, body } = await settled();
    const retry = { as: 'acct_b.agent', headers: { 'idempotency-mode': 'retry' } };
    const never = await api.submit(newKey(), body, retry);
    expect(never).toMatchObject({ status: 404, body: { code: 'unknown_key' } });
    expect((await api.submit(key, body, retry)).text).toBe(never.text);
    expect(await rowsOf(key)).toEqual([{ account_id: 'acct_a' }]);
  });

  it('is free: it makes an operation of its own there, and shows nothing of the other', async () => {
    const { key, body, id } = await settled();
    const first = { as: 'acct_b.agent', headers: { 'idempotency-mode': 'first' } };
    const answer = await api.submit(key, { ...body, invoice_id: 'other' }, first);
    expect(answer).toMatchObject({
      status: 202,
      headers: { 'operation-disposition': 'created' },
      body: { agent_id: 'acct_b.agent', command: { invoice_id: 'other' } },
    });
    expect(answer.text).not.toContain(id);
  });

  it('finds nothing in lists, previews and reads', async () => {
    const { key, body, id } = await settled();
    const as = 'acct_b.agent';
    const listed = await api.call('GET', `/agent/operations?idempotency_key=${key}`, { as });
    expect(listed.body).toMatchObject({ operations: [] });
    const headers = { 'content-type': 'application/json', 'idempotency-key': key };
    const preview = await api.call('POST', '/agent/operations/payment/preview', {
      as,
      headers,
      body,
    });
    expect(preview.status).toBe(200);
    expect(preview.text).not.toContain(id);
    expect((await api.call('GET', `/agent/operations/${id}`, { as })).status).toBe(404);
  });
});

describe('a key of another agent of the account', () => {
  it('replays the stored bytes to one that may read the kind, and says whose operation it is', async () => {
    const { key, body, text } = await settled();
    const answer = await api.submit(key, body, { as: 'acct_a.agent_2' });
    expect(answer).toMatchObject({
      status: 200,
      headers: { 'operation-disposition': 'replayed', 'idempotent-replayed': 'true' },
      body: { agent_id: 'acct_a.agent' },
    });
    expect(answer.text).toBe(text);
  });

  it('tells one that guesses the request its operation and state, and nothing of what was asked', async () => {
    const { key, id, body } = await settled();
    const guess = paymentBody({ amount: '99.00' });
    const answer = await api.submit(key, guess, { as: 'acct_a.agent_2' });
    expect(answer).toMatchObject({
      status: 409,
      body: { code: 'fingerprint_mismatch', operation_id: id },
    });
    expect(answer.text).not.toContain(String(body['invoice_id']));
  });

  it('tells nothing to one that is not granted the kind: right, wrong and unknown are one answer', async () => {
    const { key, body } = await settled();
    const as = 'acct_a.agent_bare';
    const right = await api.submit(key, body, { as });
    expect(right).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect((await api.submit(key, paymentBody(), { as })).text).toBe(right.text);
    expect((await api.submit(newKey(), body, { as })).text).toBe(right.text);
  });

  it('tells nothing to one that has lost the grant since, though it had made the operation itself', async () => {
    const { key, body, id } = await settled();
    const take = '/operator/principals/acct_a.agent/grants/payment';
    await api.call('DELETE', take, { as: 'acct_a.admin' });
    expect((await api.submit(key, body)).status).toBe(403);
    expect((await api.call('GET', `/agent/operations/${id}`)).status).toBe(404);
    await api.call('PUT', take, { as: 'acct_a.admin' });
    expect((await api.submit(key, body)).status).toBe(200);
  });
});

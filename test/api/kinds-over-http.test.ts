// Refunds and tickets through the door: what the kinds' rules look like to a caller.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newKey, paymentBody, startTestApi, work, type TestApi } from '../support/api.ts';
import { openRegister, type Register } from '../support/register.ts';
import { OUTCOMES } from '../support/operation-file.ts';

let register: Register;
let api: TestApi;
beforeAll(async () => {
  register = await openRegister();
  await register.rows(
    `insert into grants select principal_id, kind from principals,
       unnest(array['refund', 'ticket', 'payment_capture']) kind where 'agent' = any (roles)`,
  );
  api = await startTestApi(register);
});
afterAll(async () => {
  await api.stop();
  await register.close();
});

const submit = (kind: string, key: string, body: unknown) =>
  api.call('POST', `/agent/operations/${kind}`, {
    body,
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
  });

/** A payment of 10.00 USD that a worker has carried out. */
async function paid(): Promise<string> {
  const { body } = await api.submit(newKey(), { ...paymentBody(), amount: '10.00' });
  await work(register, body['operation_id'], OUTCOMES.succeeded);
  return String(body['operation_id']);
}

const refundBody = (payment: string, amount: string) => ({
  payment_operation_id: payment,
  amount,
  currency: 'USD',
  reason: 'asked',
});
const ticketBody = (event: string) => ({
  project: 'OPS',
  title: 'Disk full',
  source_event_id: event,
});

describe('a refund', () => {
  it('that takes everything is repeated and not refused, also by 20 equal submits at once', async () => {
    const [payment, key] = [await paid(), newKey()];
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => submit('refund', key, refundBody(payment, '10.00'))),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(answers.map(({ body }) => body['operation_id'])).size).toBe(1);
  });

  it('of more than is left is 409 not_refundable, and its key stays free', async () => {
    const [payment, key] = [await paid(), newKey()];
    const refused = await submit('refund', key, refundBody(payment, '10.01'));
    expect([refused.status, refused.body['code']]).toEqual([409, 'not_refundable']);
    expect((await submit('refund', key, refundBody(payment, '10.00'))).status).toBe(202);
  });

  it('of what never was is 404, with the body of another account’s payment', async () => {
    const payment = await paid();
    const body = (id: string) => ({ ...refundBody(id, '1.00') });
    const never = await submit('refund', newKey(), body(`op_${randomUUID()}`));
    const foreign = await api.call('POST', '/agent/operations/refund', {
      as: 'acct_b.agent',
      body: body(payment),
      headers: { 'content-type': 'application/json', 'idempotency-key': newKey() },
    });
    expect([never.status, never.body['code']]).toEqual([404, 'not_found']);
    expect(foreign.text).toBe(never.text);
  });
});

describe('a ticket', () => {
  it('of an event that has one is 202 as reused, under whatever key it is repeated', async () => {
    const event = `evt-${randomUUID()}`;
    const first = await submit('ticket', newKey(), ticketBody(event));
    const key = newKey();
    for (const answer of [
      await submit('ticket', key, ticketBody(event)),
      await submit('ticket', key, ticketBody(event)),
    ]) {
      expect([answer.status, answer.headers['operation-disposition']]).toEqual([202, 'reused']);
      expect(answer.body['operation_id']).toBe(first.body['operation_id']);
    }
  });

  it('under an alias key with another payload is 409', async () => {
    const event = `evt-${randomUUID()}`;
    await submit('ticket', newKey(), ticketBody(event));
    const key = newKey();
    await submit('ticket', key, ticketBody(event));
    const changed = await submit('ticket', key, { ...ticketBody(event), title: 'Other' });
    expect([changed.status, changed.body['code']]).toEqual([409, 'fingerprint_mismatch']);
  });

  it('that is settled is reused with its stored bytes', async () => {
    const event = `evt-${randomUUID()}`;
    const first = await submit('ticket', newKey(), ticketBody(event));
    await work(register, first.body['operation_id'], OUTCOMES.succeeded);
    const reused = await submit('ticket', newKey(), ticketBody(event));
    expect([reused.status, reused.headers['operation-disposition']]).toEqual([200, 'reused']);
    const read = await api.call('GET', `/agent/operations/${String(first.body['operation_id'])}`);
    expect(reused.text).toBe(read.text);
  });
});

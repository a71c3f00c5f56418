import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newKey, paymentBody, startTestApi, work, type TestApi } from '../support/api.ts';
import { openRegister, type Register } from '../support/register.ts';

let register: Register;
let api: TestApi;
beforeAll(async () => {
  register = await openRegister();
  await register.rows(
    `insert into grants (principal_id, kind) select 'acct_a.agent', unnest(array['ticket', 'refund'])`,
  );
  api = await startTestApi(register);
});
afterAll(async () => {
  await api.stop();
  await register.close();
});

const json = { 'content-type': 'application/json' };

const preview = (body: unknown, headers = {}, kind = 'payment', as = 'acct_a.agent') =>
  api.call('POST', `/agent/operations/${kind}/preview`, {
    as,
    headers: { ...json, ...headers },
    body,
  });

const submit = (kind: string, key: string, body: object) =>
  api.call('POST', `/agent/operations/${kind}`, {
    headers: { ...json, 'idempotency-key': key },
    body,
  });

describe('a preview', () => {
  it('shows the canonical command, the fingerprint and what is unique, as a submit then has them', async () => {
    const body = paymentBody({ currency: 'usd', amount: '10' });
    const seen = await preview(body);
    expect(seen.body).toMatchObject({
      kind: 'payment',
      kind_version: 1,
      command: { amount: '10.00', currency: 'USD', capture: 'automatic' },
      business_key: [body['invoice_id']],
      policy: { verdict: 'allow' },
      would: 'create',
      existing: null,
      conflicts: [],
    });
    const submitted = await api.submit(newKey(), body);
    expect(submitted.body['fingerprint']).toBe(seen.body['fingerprint']);
    expect(submitted.body['command']).toEqual(seen.body['command']);
  });

  it('says what waits for a person, and why', async () => {
    const { body } = await preview(paymentBody({ amount: '9000.00' }));
    expect(body).toMatchObject({
      would: 'create',
      policy: {
        verdict: 'require_approval',
        rules: ['large-payments'],
        reasons: [expect.stringContaining('threshold')],
      },
    });
  });

  it('writes nothing: no claim, no key, no audit, no message', async () => {
    const tables = [
      'operations',
      'idempotency_keys',
      'business_keys',
      'audit_events',
      'outbox_messages',
    ];
    const counts = () =>
      Promise.all(tables.map((table) => register.count(`select count(*) from ${table}`)));
    const before = await counts();
    const key = newKey();
    expect((await preview(paymentBody(), { 'idempotency-key': key })).status).toBe(200);
    expect((await preview(paymentBody({ amount: '1' }), { 'idempotency-key': key })).status).toBe(
      200,
    );
    expect(await counts()).toEqual(before);
  });

  it('names who holds the business key', async () => {
    const body = paymentBody();
    const { operation_id } = (await api.submit(newKey(), body)).body;
    expect((await preview(body)).body).toMatchObject({
      would: 'refuse',
      conflicts: [{ code: 'business_duplicate', operation_id, operation_status: 'PENDING' }],
    });
  });

  it('names what a reusing kind would answer with', async () => {
    const body = { project: 'OPS', title: 'T', source_event_id: 'evt-preview' };
    const { operation_id } = (await submit('ticket', newKey(), body)).body;
    expect((await preview({ ...body, title: 'Others' }, {}, 'ticket')).body).toMatchObject({
      would: 'reuse',
      existing: { operation_id, status: 'PENDING' },
      conflicts: [],
    });
  });

  it('asks the rule of the target, and takes nothing of it', async () => {
    const payment = String((await api.submit(newKey(), paymentBody())).body['operation_id']);
    const refund = { payment_operation_id: payment, amount: '6.00', currency: 'USD', reason: 'r' };
    const open = await preview(refund, {}, 'refund');
    expect(open.body).toMatchObject({ would: 'refuse', conflicts: [{ code: 'not_refundable' }] });
    await work(register, payment);
    for (const _ of [1, 2]) {
      expect((await preview(refund, {}, 'refund')).body).toMatchObject({ would: 'create' });
    }
    const missing = await preview({ ...refund, payment_operation_id: 'op_never' }, {}, 'refund');
    expect(missing.body).toMatchObject({ conflicts: [{ code: 'not_found' }] });
  });

  it('waits for nobody who holds the target', async () => {
    const payment = String((await api.submit(newKey(), paymentBody())).body['operation_id']);
    await work(register, payment);
    const locker = await register.pool.connect();
    await locker.query('begin');
    await locker.query('select 1 from operations where operation_id = $1 for update', [payment]);
    const refund = { payment_operation_id: payment, amount: '6.00', currency: 'USD', reason: 'r' };
    try {
      expect((await preview(refund, {}, 'refund')).body).toMatchObject({ would: 'create' });
    } finally {
      await locker.query('rollback');
      locker.release();
    }
  });
});

describe('a preview with a key', () => {
  it('says that the key is free, names this request, or names another', async () => {
    const [key, body] = [newKey(), paymentBody()];
    const would = async (what: object, headers = {}) =>
      (await preview(what, { 'idempotency-key': `"${key}"`, ...headers })).body;
    expect(await would(body)).toMatchObject({ would: 'create' });
    const { operation_id } = (await api.submit(key, body)).body;
    expect(await would(body)).toMatchObject({
      would: 'replay',
      existing: { operation_id, status: 'PENDING' },
    });
    expect(await would({ ...body, amount: '11.00' })).toMatchObject({
      would: 'refuse',
      conflicts: [{ code: 'fingerprint_mismatch', operation_id }],
    });
  });

  it('says that a key belongs to another kind', async () => {
    const key = newKey();
    await api.submit(key, paymentBody());
    const { body } = await preview(
      { project: 'OPS', title: 'T' },
      { 'idempotency-key': key },
      'ticket',
    );
    expect(body).toMatchObject({ would: 'refuse', conflicts: [{ code: 'fingerprint_mismatch' }] });
  });

  it('follows the mode of the caller', async () => {
    const [key, body] = [newKey(), paymentBody()];
    const codes = async (mode: string) =>
      (await preview(body, { 'idempotency-key': key, 'idempotency-mode': mode })).body['conflicts'];
    expect(await codes('retry')).toMatchObject([{ code: 'unknown_key' }]);
    expect(await codes('first')).toEqual([]);
    await api.submit(key, body);
    expect(await codes('first')).toMatchObject([{ code: 'key_known' }]);
    expect(await codes('retry')).toEqual([]);
  });

  it('names under a settled key the operation that it settled as', async () => {
    const [key, body] = [newKey(), paymentBody()];
    const id = (await api.submit(key, body)).body['operation_id'];
    await work(register, id);
    const seen = await preview(body, { 'idempotency-key': key });
    expect(seen.body['existing']).toEqual({ operation_id: id, status: 'SUCCEEDED' });
  });
});

describe('a preview is refused like a submit', () => {
  it.each([
    ['a media type', { 'content-type': 'text/plain' }, '{}', 415, 'unsupported_media_type'],
    ['a body that is no strict JSON', {}, '{"a":1,"a":2}', 400, 'invalid_json'],
    ['a malformed key', { 'idempotency-key': '"a' }, '{}', 400, 'idempotency_key_invalid'],
    ['a key that is sent empty', { 'idempotency-key': '' }, '{}', 400, 'idempotency_key_invalid'],
    ['a mode', { 'idempotency-mode': 'maybe' }, '{}', 400, 'invalid_parameter'],
    ['a body that is no command', {}, '{"amount":5}', 422, 'invalid_command'],
  ])('for %s', async (_, headers, body, status, code) => {
    expect((await preview(body, headers)).body).toMatchObject({ status, code });
  });

  it('for a kind that there is not, one without grant, another role, and without credential', async () => {
    expect((await preview({}, {}, 'surprise')).body).toMatchObject({ code: 'unknown_kind' });
    expect((await preview({}, {}, 'payment', 'acct_a.agent_bare')).body).toMatchObject({
      status: 403,
    });
    expect((await preview({}, {}, 'payment', 'acct_a.operator')).status).toBe(403);
    const path = '/agent/operations/payment/preview';
    expect((await api.call('POST', path, { as: null, body: {} })).status).toBe(401);
    expect((await api.call('GET', path)).status).toBe(405);
    expect((await api.call('POST', `${path}?dry=1`, { headers: json, body: {} })).status).toBe(400);
  });

  it('for a lost grant, which is audited with the route of the preview', async () => {
    await preview(paymentBody(), { 'agent-run-id': 'run-p' }, 'payment', 'acct_a.agent_bare');
    const [event] = await register.rows(
      `select route, detail from audit_events where agent_run = 'run-p'`,
    );
    expect(event).toEqual({
      route: '/agent/operations/payment/preview',
      detail: { code: 'forbidden' },
    });
  });
});

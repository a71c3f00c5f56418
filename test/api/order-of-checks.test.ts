// Contract §4, "Order of checks": each request below is wrong in one way and in every later way, so its answer says which check came
// first.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_BODY_BYTES } from '../../src/api/parse-submission.ts';
import {
  newKey,
  paymentBody,
  startTestApi,
  type CallOptions,
  type TestApi,
} from '../support/api.ts';
import { openRegister, secretOf, type Register } from '../support/register.ts';

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

const PATH = '/agent/operations/payment';
const tooLarge = `{"amount":${'9'.repeat(MAX_BODY_BYTES)}`;
const post = async (options: CallOptions) => {
  const { status, body } = await api.call('POST', PATH, options);
  return [status, body['code']];
};
const json = { 'content-type': 'application/json' };

describe('the order of checks', () => {
  it('authenticates before anything of the body is looked at', async () => {
    const headers = { 'content-type': 'text/plain', 'content-encoding': 'gzip' };
    expect(await post({ as: null, headers, body: tooLarge })).toEqual([401, 'unauthenticated']);
    expect(await post({ as: 'nobody', headers, body: tooLarge })).toEqual([401, 'unauthenticated']);
  });

  it('then takes JSON only', async () => {
    const headers = { 'content-type': 'text/plain' };
    expect(await post({ as: 'acct_a.agent_bare', headers, body: tooLarge })).toEqual([
      415,
      'unsupported_media_type',
    ]);
  });

  it('then bounds the size', async () => {
    expect(await post({ as: 'acct_a.agent_bare', headers: json, body: tooLarge })).toEqual([
      413,
      'payload_too_large',
    ]);
  });

  it('then reads strict JSON', async () => {
    const headers = { ...json, 'idempotency-key': '' };
    expect(await post({ as: 'acct_a.agent_bare', headers, body: '{"a":1,"a":2}' })).toEqual([
      400,
      'invalid_json',
    ]);
  });

  it('then wants a key', async () => {
    const bare = { as: 'acct_a.agent_bare', body: {} };
    expect(await post({ ...bare, headers: json })).toEqual([400, 'idempotency_key_missing']);
    expect(await post({ ...bare, headers: { ...json, 'idempotency-key': 'a b' } })).toEqual([
      400,
      'idempotency_key_invalid',
    ]);
  });

  it('then asks for the grant, before a known key can tell anything', async () => {
    const key = newKey();
    await api.submit(key, paymentBody());
    const headers = { ...json, 'idempotency-key': key };
    expect(await post({ as: 'acct_a.agent_bare', headers, body: {} })).toEqual([403, 'forbidden']);
  });

  it('then looks the key up: a retry of an unknown one is not read any further', async () => {
    const headers = { ...json, 'idempotency-key': newKey(), 'idempotency-mode': 'retry' };
    expect(await post({ headers, body: {} })).toEqual([404, 'unknown_key']);
  });

  it('then refuses a key that another kind has, whatever the body', async () => {
    const key = newKey();
    const first = await api.submit(key, paymentBody());
    await register.pool.query(`update operations set kind = 'a_kind' where operation_id = $1`, [
      first.body['operation_id'],
    ]);
    const headers = { ...json, 'idempotency-key': key };
    expect(await post({ headers, body: {} })).toEqual([409, 'fingerprint_mismatch']);
  });

  it('then reads the command: a known key does not excuse one that is none', async () => {
    const key = newKey();
    await api.submit(key, paymentBody());
    const headers = { ...json, 'idempotency-key': key };
    expect(await post({ headers, body: {} })).toEqual([422, 'invalid_command']);
  });

  it('then compares a known key before it asks for the business', async () => {
    const [key, body, taken] = [newKey(), paymentBody(), paymentBody()];
    await api.submit(key, body);
    await api.submit(newKey(), taken);
    const headers = { ...json, 'idempotency-key': key };
    expect(await post({ headers, body: taken })).toEqual([409, 'fingerprint_mismatch']);
  });

  it('then asks for the business, and claims nothing where it is taken', async () => {
    const body = paymentBody();
    await api.submit(newKey(), body);
    const headers = { ...json, 'idempotency-key': newKey() };
    expect(await post({ headers, body })).toEqual([409, 'business_duplicate']);
  });

  it('claims nothing for any refused request, and leaves the key free', async () => {
    const key = newKey();
    const before = await register.count('select count(*) from operations');
    const body = paymentBody();
    await api.submit(key, body, { as: null });
    await api.submit(key, body, { headers: { 'content-type': 'text/plain' } });
    await api.submit(key, '{');
    await api.submit(key, { ...body, amount: 10 });
    await api.submit(key, body, { as: 'acct_a.agent_bare' });
    await api.submit(key, body, { headers: { 'idempotency-mode': 'retry' } });
    await api.call('POST', `${PATH}?x=1`, { headers: { ...json, 'idempotency-key': key }, body });
    expect(await register.count('select count(*) from operations')).toBe(before);
    expect((await api.submit(key, body)).headers['operation-disposition']).toBe('created');
  });

  it('lets agents submit, and nobody else', async () => {
    for (const name of ['approver', 'operator', 'auditor', 'admin']) {
      const answer = await api.submit(newKey(), paymentBody(), { as: `acct_a.${name}` });
      expect([answer.status, answer.body['code']]).toEqual([403, 'forbidden']);
    }
  });

  it('takes the account from the credential only', async () => {
    const answer = await api.submit(newKey(), paymentBody({ account_id: 'acct_b' }));
    expect(answer.status).toBe(422);
    const header = await api.submit(newKey(), paymentBody(), {
      headers: { 'account-id': 'acct_b', 'x-account-id': 'acct_b' },
    });
    const [row] = await register.rows('select account_id from operations where operation_id = $1', [
      header.body['operation_id'],
    ]);
    expect(row).toEqual({ account_id: 'acct_a' });
  });
});

describe('a credential', () => {
  it.each([
    ['none', undefined],
    ['another scheme', 'Basic c2VjcmV0'],
    ['no secret', 'Bearer'],
    ['an empty secret', 'Bearer '],
    ['an unknown secret', 'Bearer nothing'],
    ['two secrets', 'Bearer a b'],
  ])('that is %s is 401 with WWW-Authenticate', async (_, authorization) => {
    const answer = await api.call('GET', '/agent/operations/op_1', {
      as: null,
      headers: authorization === undefined ? {} : { authorization },
    });
    expect([answer.status, answer.body['code']]).toEqual([401, 'unauthenticated']);
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
  });

  it('works with the scheme in any case (RFC 9110 §11.1)', async () => {
    const answer = await api.call('GET', '/agent/operations/op_1', {
      as: null,
      headers: { authorization: 'bearer secret-of-acct_a.agent' },
    });
    expect(answer.status).toBe(404);
  });
});

describe('two credentials', () => {
  it('are none, whichever comes first', async () => {
    for (const authorization of [
      [`Bearer ${secretOf('acct_a.agent')}`, 'Bearer other'],
      ['Bearer other', `Bearer ${secretOf('acct_a.agent')}`],
    ]) {
      const answer = await api.call('GET', '/agent/operations', {
        as: null,
        headers: { authorization },
      });
      expect([answer.status, answer.body['code']]).toEqual([401, 'unauthenticated']);
    }
  });
});

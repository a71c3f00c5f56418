// API keys over HTTP: shown once, used, rotated, revoked. And nobody locks an account by them.
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';
import { ADMIN } from '../support/operators.ts';
import { openRegister, type Register } from '../support/register.ts';

let register: Register;
let api: TestApi;
let log = '';
beforeAll(async () => {
  register = await openRegister();
  const sink = new Writable({
    write(chunk, _, done) {
      log += String(chunk);
      done();
    },
  });
  api = await startTestApi(register, { logger: pino({ level: 'trace' }, sink) });
});
afterAll(async () => {
  await api.stop();
  await register.close();
});

const OPERATOR = 'acct_a.operator';
const JSON_TYPE = { 'content-type': 'application/json' };
const post = (path: string, body: unknown = {}, as = ADMIN) =>
  api.call('POST', path, { as, headers: JSON_TYPE, body });
const create = (body: unknown = {}, principal = OPERATOR, as = ADMIN) =>
  post(`/operator/principals/${principal}/keys`, body, as);
const rotate = (keyId: string, body: unknown = {}, as = ADMIN) =>
  post(`/operator/keys/${encodeURIComponent(keyId)}/rotate`, body, as);
const revoke = (keyId: string, as = ADMIN) =>
  api.call('POST', `/operator/keys/${encodeURIComponent(keyId)}/revoke`, { as });
const keysOf = async (principal = OPERATOR) =>
  (await api.call('GET', `/operator/principals/${principal}/keys`, { as: ADMIN })).body[
    'keys'
  ] as Record<string, unknown>[];
const keyOf = async (id: unknown) => (await keysOf()).find((one) => one['key_id'] === id);
const works = async (secret: unknown) => {
  const headers = { authorization: `Bearer ${String(secret)}` };
  return (await api.call('GET', '/operator/queue', { as: null, headers })).status === 200;
};
const inMs = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();
const HOUR = 3_600_000;

describe('a new key', () => {
  it('works; its secret is in this one answer, and nowhere else afterwards', async () => {
    log = '';
    const made = await create();
    const secret = String(made.body['secret']);
    expect(made).toMatchObject({ status: 201, headers: { 'cache-control': 'no-store' } });
    expect(secret).toMatch(/^hf_[\w-]{43}$/);
    expect(await works(secret)).toBe(true);
    const listed = await keyOf(made.body['key_id']);
    const { secret: _, ...shown } = made.body;
    expect(listed).toEqual({ ...shown, last_used_at: expect.any(String) });
    expect(JSON.stringify(await keysOf())).not.toContain('sha256');
    const tables = ['api_keys', 'principals', 'administration_log', 'audit_events'];
    for (const table of tables) {
      const rows = await register.rows(`select to_jsonb(t)::text as row from ${table} t`);
      expect(JSON.stringify(rows)).not.toContain(secret);
    }
    expect(log).toContain(String(made.body['key_id']));
    expect(log).not.toContain(secret);
  });

  it('names nobody once it has expired', async () => {
    const { body } = await create({ expires_at: inMs(HOUR) });
    expect(await works(body['secret'])).toBe(true);
    await register.shiftClock(HOUR + 1_000);
    expect(await works(body['secret'])).toBe(false);
    await register.shiftClock(0);
  });

  it.each([
    '2001-01-01T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59-23:59',
    '2030-02-30T00:00:00Z',
    '2030-01-01T00:00:00',
    'tomorrow',
    7,
  ])('that expires at %j is refused', async (expires_at) => {
    expect(await create({ expires_at })).toMatchObject({
      status: 422,
      body: {
        code: 'invalid_command',
        errors: expect.arrayContaining([expect.objectContaining({ pointer: '/expires_at' })]),
      },
    });
  });

  it('that expires by any offset there is, is made', async () => {
    const answer = await create({ expires_at: '2040-01-01T12:00:00+23:00' });
    expect(answer.body['expires_at']).toBe('2039-12-31T13:00:00.000Z');
  });
});

describe('a key that is rotated', () => {
  it('works beside the new one for an hour, unless told otherwise', async () => {
    const { body: old } = await create();
    const fresh = await rotate(String(old['key_id']));
    expect(fresh).toMatchObject({
      status: 201,
      body: { principal_id: OPERATOR, expires_at: null },
    });
    expect([await works(old['secret']), await works(fresh.body['secret'])]).toEqual([true, true]);
    await register.shiftClock(HOUR - 60_000);
    expect(await works(old['secret'])).toBe(true);
    await register.shiftClock(HOUR + 1_000);
    expect([await works(old['secret']), await works(fresh.body['secret'])]).toEqual([false, true]);
    await register.shiftClock(0);
  });

  it('ends at once with no overlap', async () => {
    const { body: old } = await create();
    const fresh = await rotate(String(old['key_id']), { overlap_seconds: 0 });
    expect([await works(old['secret']), await works(fresh.body['secret'])]).toEqual([false, true]);
  });

  it('never works longer for it, and the new one lives as long as the old one was made for', async () => {
    const { body: old } = await create({ expires_at: inMs(600_000) });
    await register.shiftClock(300_000);
    const fresh = await rotate(String(old['key_id']));
    expect((await keyOf(old['key_id']))?.['expires_at']).toBe(old['expires_at']);
    const life = ({ created_at, expires_at }: typeof old) =>
      Date.parse(String(expires_at)) - Date.parse(String(created_at));
    expect(Math.abs(life(fresh.body) - life(old))).toBeLessThan(1_000);
    await register.shiftClock(0);
  });

  it('has ended already: 409, and no new one', async () => {
    const { body } = await create();
    await revoke(String(body['key_id']));
    const before = await keysOf();
    expect((await rotate(String(body['key_id']))).body['code']).toBe('wrong_state');
    expect(await keysOf()).toEqual(before);
  });

  it.each([{ overlap_seconds: -1 }, { overlap_seconds: 1.5 }, { overlap_seconds: 1e9 }, { x: 1 }])(
    'by %j is refused',
    async (body) => {
      const { body: key } = await create();
      expect((await rotate(String(key['key_id']), body)).status).toBe(422);
    },
  );
});

describe('a key that is revoked', () => {
  it('names nobody from the answer on; again changes nothing', async () => {
    const { body } = await create();
    const first = await revoke(String(body['key_id']));
    expect(first).toMatchObject({ status: 200, body: { revoked_at: expect.any(String) } });
    expect(await works(body['secret'])).toBe(false);
    expect((await revoke(String(body['key_id']))).text).toBe(first.text);
    const entries = await register.rows(
      `select action, by_principal from administration_log where subject = $1 order by entry_id`,
      [body['key_id']],
    );
    expect(entries).toEqual([
      { action: 'key_created', by_principal: ADMIN },
      { action: 'key_revoked', by_principal: ADMIN },
    ]);
  });
});

describe('keys of another account', () => {
  it('are 404, as those that never were', async () => {
    const never = await revoke('key_never');
    expect(never).toMatchObject({ status: 404, body: { code: 'not_found' } });
    for (const id of ['acct_b.agent.key', '\0', 'x'.repeat(300)]) {
      expect((await revoke(id)).text).toBe(never.text);
      expect((await rotate(id)).text).toBe(never.text);
    }
    const nobody = await create({}, 'acct_a.never');
    expect(nobody.status).toBe(404);
    expect((await create({}, 'acct_b.agent')).text).toBe(nobody.text);
    const path = '/operator/principals/acct_b.agent/keys';
    expect((await api.call('GET', path, { as: ADMIN })).text).toBe(nobody.text);
  });
});

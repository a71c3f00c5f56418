// Nobody locks an account: what would leave it without a usable admin is refused, whoever asks and however many at once.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureAdmin } from '../../src/bootstrap/first-admin.ts';
import { addPrincipals } from '../../src/store/principals.store.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { ADMIN } from '../support/operators.ts';
import { openRegister, secretOf, type Register } from '../support/register.ts';

const ISSUER = 'https://issuer.test';
const SECOND = 'acct_a.admin_2';
let register: Register;
let api: TestApi;
beforeEach(async () => {
  register = await openRegister();
  api = await startTestApi(register, { identity: { tokenCaller: undefined, issuer: ISSUER } });
});
afterEach(async () => {
  await api.stop();
  await register.close();
});

const post = (path: string, as = ADMIN, body?: unknown) =>
  api.call('POST', path, {
    as,
    ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }),
  });
const revoke = (id = `${ADMIN}.key`, as = ADMIN) => post(`/operator/keys/${id}/revoke`, as);
const disable = (id = ADMIN, as = ADMIN) => post(`/operator/principals/${id}/disable`, as);
const usable = async (as = ADMIN) =>
  (await api.call('GET', '/operator/principals', { as })).status === 200;
const addSecond = () =>
  addPrincipals(register.pool, [
    {
      principalId: SECOND,
      accountId: 'acct_a',
      owner: 'second',
      roles: ['admin'],
      grants: [],
      keyId: `${SECOND}.key`,
      secret: secretOf(SECOND),
    },
  ]);
const addTokenAdmin = (issuer: string) =>
  register.rows(
    `insert into principals (principal_id, account_id, owner, roles, issuer, claims_issued_at)
     values ('acct_a.oidc:1', 'acct_a', 'o', '{admin}', $1, now())`,
    [issuer],
  );

describe('the last admin', () => {
  it.each([
    ['revoke its last key', () => revoke()],
    ['disable itself', () => disable()],
  ])('can not %s: 409, and nothing has changed', async (_, act) => {
    const before = await register.count('select count(*) from administration_log');
    expect(await act()).toMatchObject({
      status: 409,
      body: { code: 'wrong_state', detail: expect.stringContaining('another admin') },
    });
    expect(await usable()).toBe(true);
    expect(await register.count('select count(*) from administration_log')).toBe(before);
  });

  it.each([
    ['rotate its key into one that ends soon', `/operator/keys/${ADMIN}.key/rotate`],
    ['rotate it without overlap', `/operator/keys/${ADMIN}.key/rotate`],
  ])('can not %s: afterwards nobody could come back', async (what, path) => {
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    const overlap_seconds = what.includes('without') ? 0 : 30;
    expect(await post(path, ADMIN, { expires_at, overlap_seconds })).toMatchObject({
      status: 409,
      body: { code: 'wrong_state' },
    });
    expect(await usable()).toBe(true);
  });

  it('can not revoke its key where the other admin has only one that ends soon', async () => {
    await addSecond();
    await register.rows(
      `update api_keys set expires_at = now() + interval '1 minute' where principal_id = $1`,
      [SECOND],
    );
    expect((await revoke()).status).toBe(409);
    expect(await usable()).toBe(true);
  });

  it('whose only key ends soon can still do its work', async () => {
    await register.rows(
      `update api_keys set expires_at = now() + interval '1 minute' where principal_id = $1`,
      [ADMIN],
    );
    expect((await post(`/operator/principals/${ADMIN}/keys`, ADMIN, {})).status).toBe(201);
  });

  it('can revoke a key where it has another one, and rotate its only one', async () => {
    const made = await post(`/operator/principals/${ADMIN}/keys`, ADMIN, {});
    expect(made.status).toBe(201);
    const headers = { authorization: `Bearer ${String(made.body['secret'])}` };
    expect((await revoke()).status).toBe(200);
    expect(await usable()).toBe(false);
    const path = `/operator/keys/${String(made.body['key_id'])}/rotate`;
    const rotated = await api.call('POST', path, {
      as: null,
      headers: { ...headers, 'content-type': 'application/json' },
      body: { overlap_seconds: 0 },
    });
    expect(rotated.status).toBe(201);
  });

  it.each([
    ['disabled', `update principals set disabled_at = now() where principal_id = '${SECOND}'`],
    ['without a key', `delete from api_keys where principal_id = '${SECOND}'`],
    [
      'with a revoked key',
      `update api_keys set revoked_at = now() where principal_id = '${SECOND}'`,
    ],
    [
      'with an expired key',
      `update api_keys set expires_at = now() where principal_id = '${SECOND}'`,
    ],
    [
      'of another account',
      `update principals set account_id = 'acct_b' where principal_id = '${SECOND}'`,
    ],
  ])('is the last where the other one is %s', async (_, sql) => {
    await addSecond();
    await register.rows(sql);
    expect((await disable()).status).toBe(409);
  });

  it('is none where another can administer', async () => {
    await addSecond();
    expect((await disable()).status).toBe(200);
    expect([await usable(), await usable(SECOND)]).toEqual([false, true]);
    expect((await revoke(`${SECOND}.key`, SECOND)).status).toBe(409);
  });

  it('is none where an admin comes by the identity provider that is configured', async () => {
    await addTokenAdmin('https://former.test');
    expect((await revoke()).status).toBe(409);
    await register.rows(`update principals set issuer = $1 where issuer is not null`, [ISSUER]);
    expect((await revoke()).status).toBe(200);
  });

  it('stays, where two admins revoke each other’s key at once', async () => {
    await addSecond();
    const answers = await Promise.all([
      revoke(`${SECOND}.key`, ADMIN),
      revoke(`${ADMIN}.key`, SECOND),
    ]);
    // The second may have lost its own key before it was asked who it is.
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect([await usable(), await usable(SECOND)].filter(Boolean)).toHaveLength(1);
  });
});

describe('the way back in', () => {
  const lockOut = () =>
    register.rows(`update api_keys set revoked_at = now() where principal_id like '%.admin'`);

  it('is a new key for the admin, made with the database alone, and written down', async () => {
    await lockOut();
    await register.rows(`update principals set disabled_at = now() where principal_id = $1`, [
      ADMIN,
    ]);
    const made = await ensureAdmin(register.pool, { accountId: 'acct_a', name: 'admin' });
    const headers = { authorization: `Bearer ${made.secret}` };
    const answer = await api.call('GET', '/operator/principals', { as: null, headers });
    expect(answer.status).toBe(200);
    expect(
      await register.rows(
        'select action, by_principal, subject from administration_log where principal_id = $1 order by entry_id',
        [ADMIN],
      ),
    ).toEqual([
      { action: 'principal_enabled', by_principal: null, subject: null },
      { action: 'key_created', by_principal: null, subject: made.keyId },
    ]);
  });

  it('makes the first admin of an account', async () => {
    const wish = { accountId: 'acct_new', name: 'root', owner: 'ada' };
    const made = await ensureAdmin(register.pool, wish);
    expect(made.principalId).toBe('acct_new.root');
    const headers = { authorization: `Bearer ${made.secret}` };
    const answer = await api.call('GET', '/operator/principals', { as: null, headers });
    expect(answer.body['principals']).toMatchObject([
      { principal_id: 'acct_new.root', owner: 'ada', roles: ['admin'] },
    ]);
  });

  it('gives nobody a role: a principal that is no admin is refused', async () => {
    const wish = { accountId: 'acct_a', name: 'operator' };
    await expect(ensureAdmin(register.pool, wish)).rejects.toThrow(/is no admin/);
    await expect(ensureAdmin(register.pool, { ...wish, accountId: 'A-B' })).rejects.toThrow(
      /account/,
    );
    await expect(ensureAdmin(register.pool, { ...wish, name: 'oidc:1' })).rejects.toThrow(/name/);
  });
});

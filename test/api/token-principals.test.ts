// What becomes of those who come with tokens: a principal from the first token on, roles as the newest one says, grants and limits as for
// everybody else, and a provider that can't be asked.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createRateLimits } from '../../src/api/rate-limits.ts';
import { tokenPrincipalId } from '../../src/domain/claim-mapping.ts';
import { newKey, paymentBody, startTestApi, type TestApi } from '../support/api.ts';
import {
  callersOf,
  newSigningKey,
  now,
  settingsOf,
  startIssuer,
  tokenOf,
  type Issuer,
} from '../support/issuer.ts';
import { ADMIN } from '../support/operators.ts';
import { openRegister, type Register } from '../support/register.ts';

let register: Register;
let issuer: Issuer;
let api: TestApi;
beforeAll(async () => {
  register = await openRegister();
  issuer = await startIssuer();
  api = await newApi();
});
afterEach(() => {
  issuer.served.down = undefined;
});
afterAll(async () => {
  await api.stop();
  await issuer.stop();
  await register.close();
});

/** One more API of the same installation: it has seen no token yet. */
const newApi = () => {
  const tokenCaller = callersOf(register, settingsOf(issuer.url));
  return startTestApi(register, { identity: { tokenCaller, issuer: issuer.url } });
};
const idOf = (sub: string, account = 'acct_a') => tokenPrincipalId(issuer.url, account, sub);
const rowOf = async (sub: string, account?: string) =>
  (
    await register.rows('select *, xmin from principals where principal_id = $1', [
      idOf(sub, account),
    ])
  )[0];

type Claims = Readonly<Record<string, unknown>>;
const tokenFor = (sub: string, claims: Claims = {}) =>
  tokenOf(issuer, { claims: { sub, ...claims } });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const show = (token: string, through = api, path = '/operator/queue') =>
  through.call('GET', path, { as: null, headers: bearer(token) });
const submit = (token: string, key = newKey(), body = paymentBody()) =>
  api.submit(key, body, { as: null, headers: bearer(token) });
const give = (sub: string, kind: string) =>
  api.call('PUT', `/operator/principals/${idOf(sub)}/grants/${kind}`, { as: ADMIN });

describe('somebody with a token', () => {
  it('is a principal from the first one on, named by a digest and not by the subject', async () => {
    expect(await rowOf('eve@example.com')).toBeUndefined();
    const claims = { roles: ['operators', 'auditors', 'staff'] };
    expect((await show(await tokenFor('eve@example.com', claims))).status).toBe(200);
    expect(await rowOf('eve@example.com')).toMatchObject({
      principal_id: expect.stringMatching(/^acct_a\.oidc:[0-9a-f]{32}$/),
      account_id: 'acct_a',
      owner: 'eve@example.com',
      roles: ['operator', 'auditor'],
      issuer: issuer.url,
      disabled_at: null,
    });
  });

  it('writes only with the first request of a token', async () => {
    const token = await tokenFor('frank');
    await show(token);
    const first = await rowOf('frank');
    for (let n = 0; n < 3; n += 1) await show(token);
    expect(await rowOf('frank')).toEqual(first);
  });

  it('is another principal in another account, and sees nothing of this one', async () => {
    const mine = await tokenFor('gil', { roles: ['agents'] });
    await show(mine, api, '/kinds');
    await give('gil', 'payment');
    const { body } = await submit(mine);
    const id = String(body['operation_id']);
    const other = await tokenFor('gil', { holdfast_account: 'acct_b', roles: ['operators'] });
    const never = await show(other, api, '/agent/operations/op_never');
    expect(await show(other, api, `/agent/operations/${id}`)).toMatchObject({
      status: 404,
      text: never.text,
    });
    expect(await rowOf('gil', 'acct_b')).toMatchObject({ account_id: 'acct_b' });
    expect(await rowOf('gil')).toMatchObject({ account_id: 'acct_a', roles: ['agent'] });
  });

  it('submits as an agent what it is granted, and is told of its key like everybody', async () => {
    const token = await tokenFor('bot', { roles: ['agents'], owner: 'x' });
    expect((await submit(token)).status).toBe(403);
    expect((await give('bot', 'payment')).status).toBe(200);
    const [key, body] = [newKey(), paymentBody()];
    expect(await submit(token, key, body)).toMatchObject({
      status: 202,
      headers: { 'operation-disposition': 'created' },
      body: { agent_id: idOf('bot') },
    });
    expect((await submit(token, key, body)).headers['operation-disposition']).toBe('in_progress');
    expect((await submit(token, key, paymentBody())).body['code']).toBe('fingerprint_mismatch');
    expect((await show(token)).status).toBe(403);
  });

  it('has its own limits, whichever of its tokens it shows', async () => {
    const rateLimits = createRateLimits({ submitsPerS: 1, readsPerS: 1 });
    const tokenCaller = callersOf(register, settingsOf(issuer.url));
    const limited = await startTestApi(register, {
      identity: { tokenCaller, issuer: issuer.url },
      rateLimits,
    });
    const [first, second] = [await tokenFor('hal'), await tokenFor('hal', { exp: now() + 400 })];
    const answers = await Promise.all([first, second, first].map((one) => show(one, limited)));
    expect(answers.map(({ status }) => status)).toContain(429);
    await limited.stop();
  });
});

describe('the roles of a principal', () => {
  const rolesShown = async (token: string, through: TestApi) => [
    (await show(token, through)).status,
    (await show(token, through, '/audit/events')).status,
  ];

  it('are those of its newest token: an older one brings nothing back, at no API', async () => {
    const both = { roles: ['operators', 'auditors'], iat: now() - 60 };
    const old = await tokenFor('ida', both);
    expect(await rolesShown(old, api)).toEqual([200, 200]);
    const reduced = await tokenFor('ida', { roles: ['auditors'], iat: now() - 30 });
    expect(await rolesShown(reduced, api)).toEqual([403, 200]);
    expect((await rowOf('ida'))?.['roles']).toEqual(['auditor']);
    const fresh = await newApi();
    const operators = await tokenFor('ida', { roles: ['operators'], iat: now() - 59 });
    for (const through of [api, fresh]) {
      expect((await show(operators, through)).status).toBe(403);
    }
    expect((await rowOf('ida'))?.['roles']).toEqual(['auditor']);
    await fresh.stop();
  });

  it('are not more than its own token says', async () => {
    const little = await tokenFor('jo', { roles: ['approvers'], iat: now() - 60 });
    await show(little);
    await show(await tokenFor('jo', { roles: ['approvers', 'operators'] }));
    expect((await rowOf('jo'))?.['roles']).toEqual(['approver', 'operator']);
    expect((await show(little)).status).toBe(403);
  });

  it('never make a person of an agent, nor an agent of a person', async () => {
    await show(await tokenFor('kit', { roles: ['agents'], iat: now() - 60 }), api, '/kinds');
    expect((await show(await tokenFor('kit', { roles: ['operators'] }))).status).toBe(403);
    expect((await rowOf('kit'))?.['roles']).toEqual(['agent']);
    await show(await tokenFor('lee', { roles: ['operators'], iat: now() - 60 }));
    const agent = await tokenFor('lee', { roles: ['agents'] });
    expect((await show(agent, api, '/kinds')).status).toBe(403);
    expect((await rowOf('lee'))?.['roles']).toEqual(['operator']);
  });

  it('hold no admin unless a name is mapped to it', async () => {
    const settings = settingsOf(issuer.url);
    const claims = { ...settings.claims, roleMap: { operators: 'operator' as const } };
    const tokenCaller = callersOf(register, { ...settings, claims });
    const strict = await startTestApi(register, { identity: { tokenCaller, issuer: issuer.url } });
    const roles = ['admin', 'admins', 'operators'];
    expect((await show(await tokenFor('max', { roles }), strict)).status).toBe(200);
    expect((await rowOf('max'))?.['roles']).toEqual(['operator']);
    await strict.stop();
  });
});

describe('a disabled principal', () => {
  it('is refused whatever its tokens say, also new ones, until it is enabled', async () => {
    const token = await tokenFor('nan');
    expect((await show(token)).status).toBe(200);
    const path = `/operator/principals/${idOf('nan')}`;
    expect((await api.call('POST', `${path}/disable`, { as: ADMIN })).status).toBe(200);
    const newer = await tokenFor('nan', { roles: ['operators', 'admins'], exp: now() + 900 });
    for (const one of [token, newer]) {
      expect(await show(one)).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    }
    await api.call('POST', `${path}/enable`, { as: ADMIN });
    expect((await show(token)).status).toBe(200);
  });
});

describe('the keys of the issuer', () => {
  it('are asked for again where a token names one that is new, and the old ones end with the rotation', async () => {
    const [before] = issuer.served.keys;
    const old = await tokenFor('ada');
    expect((await show(old)).status).toBe(200);
    const next = await newSigningKey('k2', 'ES256');
    issuer.served.keys = [next];
    expect((await show(await tokenFor('ada'))).status).toBe(200);
    expect((await show(old)).status).toBe(401);
    issuer.served.keys = before ? [before] : [];
  });

  it.each(['PS256', 'ES256', 'EdDSA'])('may be for %s', async (alg) => {
    const key = await newSigningKey(`of-${alg}`, alg);
    issuer.served.keys = [...issuer.served.keys, key];
    const token = await tokenOf(issuer, { key });
    expect((await show(token)).status).toBe(200);
  });

  it.each([
    ['errors', { status: 500, body: 'no' }],
    ['a page', { status: 200, body: '<html>' }],
    ['a redirect', { status: 302, body: '' }],
    ['a document without keys', { status: 200, body: '{}' }],
  ])('that can’t be had, because it answers %s, are 503, and API keys work on', async (_, down) => {
    issuer.served.down = down;
    const fresh = await newApi();
    expect(await show(await tokenFor('ada'), fresh)).toMatchObject({
      status: 503,
      headers: { 'retry-after': '5' },
      body: { code: 'unavailable' },
    });
    expect((await fresh.call('GET', '/operator/queue', { as: 'acct_a.operator' })).status).toBe(
      200,
    );
    issuer.served.down = undefined;
    expect((await show(await tokenFor('ada'), fresh)).status).toBe(200);
    await fresh.stop();
  });

  it('are not those of a document of another issuer', async () => {
    const keys = issuer.served.keys.map(({ jwk }) => jwk);
    const document = { issuer: 'https://other.test', jwks_uri: `${issuer.url}/jwks`, keys };
    issuer.served.down = { status: 200, body: JSON.stringify(document) };
    const fresh = await newApi();
    expect((await show(await tokenFor('ada'), fresh)).status).toBe(503);
    const right = { ...document, issuer: issuer.url };
    issuer.served.down = { status: 200, body: JSON.stringify(right) };
    expect((await show(await tokenFor('ada'), fresh)).status).toBe(200);
    await fresh.stop();
  });

  it('that are known serve while the issuer is away', async () => {
    await show(await tokenFor('ada'));
    issuer.served.down = { status: 500, body: '' };
    expect((await show(await tokenFor('ada'))).status).toBe(200);
    const unknown = await tokenOf(issuer, { key: await newSigningKey('k77') });
    expect((await show(unknown)).status).toBe(503);
    expect((await show(await tokenFor('ada'))).status).toBe(200);
  });
});

describe('a token where no issuer is configured', () => {
  it('is an unknown key', async () => {
    const plain = await startTestApi(register);
    expect((await show(await tokenFor('ada'), plain)).status).toBe(401);
    await plain.stop();
  });
});

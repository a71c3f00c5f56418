// Tokens that a real identity provider would never sign, and claims that admit nobody. Whatever is sent, the answer is a refusal of the
// client, never an error of ours.
import { createHmac } from 'node:crypto';
import { Writable } from 'node:stream';
import { exportSPKI, importJWK, type CryptoKey } from 'jose';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';
import {
  callersOf,
  newSigningKey,
  now,
  settingsOf,
  startIssuer,
  tokenOf,
  type Issuer,
  type TokenWishes,
} from '../support/issuer.ts';
import { openRegister, type Register } from '../support/register.ts';

let register: Register;
let issuer: Issuer;
let api: TestApi;
let log = '';
beforeAll(async () => {
  register = await openRegister();
  issuer = await startIssuer();
  const sink = new Writable({
    write(chunk, _, done) {
      log += String(chunk);
      done();
    },
  });
  const logger = pino({ level: 'trace' }, sink);
  const settings = settingsOf(issuer.url);
  const identity = { tokenCaller: callersOf(register, settings, { logger }), issuer: issuer.url };
  api = await startTestApi(register, { identity, logger });
});
afterAll(async () => {
  await api.stop();
  await issuer.stop();
  await register.close();
});

const show = (token: string) =>
  api.call('GET', '/operator/queue', { as: null, headers: { authorization: `Bearer ${token}` } });
const send = async (wishes: TokenWishes = {}) => show(await tokenOf(issuer, wishes));
const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const payloadOf = (token: string) => token.split('.')[1] ?? '';

async function unsigned(header: object, sign: (input: string) => string = () => '') {
  const input = `${base64url(header)}.${payloadOf(await tokenOf(issuer))}`;
  return `${input}.${sign(input)}`;
}

/** The public key in the forms in which people have used it as a shared secret. */
async function publicKeyTexts(): Promise<string[]> {
  const [key] = issuer.served.keys;
  const pem = await exportSPKI((await importJWK(key?.jwk ?? {}, 'RS256')) as CryptoKey);
  return [pem, pem.trim(), JSON.stringify(key?.jwk), String(key?.jwk.n)];
}

describe('a good token', () => {
  it('is taken, so that the refusals below mean something', async () => {
    expect((await send()).status).toBe(200);
  });
});

const REFUSED: Readonly<Record<string, () => Promise<string>>> = {
  'of no algorithm': () => unsigned({ alg: 'none' }),
  'of no algorithm, written otherwise': () => unsigned({ alg: 'nOnE', kid: 'k1' }),
  'without a signature': () => unsigned({ alg: 'RS256', kid: 'k1' }),
  'without an algorithm': () => unsigned({ kid: 'k1' }),
  'with an algorithm that is no text': () => unsigned({ alg: ['RS256'], kid: 'k1' }),
  'of a key that is not the issuer’s': async () =>
    tokenOf(issuer, { key: await newSigningKey('k1') }),
  'of a key id that there is not': async () => tokenOf(issuer, { key: await newSigningKey('k9') }),
  'of an algorithm that is not taken': async () => {
    // The issuer has it and means it: what is not on our list is not taken all the same.
    const key = await newSigningKey('k512', 'RS512');
    issuer.served.keys = [...issuer.served.keys, key];
    return tokenOf(issuer, { key });
  },
  'that brings its own key': async () => {
    const key = await newSigningKey('own');
    return tokenOf(issuer, { key, header: { jwk: key.jwk } });
  },
  'that says where its key is': async () =>
    tokenOf(issuer, {
      key: await newSigningKey('own'),
      header: { jku: `${issuer.url}/other`, x5u: `${issuer.url}/other` },
    }),
  'whose key id is a path': () => tokenOf(issuer, { header: { kid: '../../../../dev/null' } }),
  'whose key id is SQL': () => tokenOf(issuer, { header: { kid: "k1' or '1'='1" } }),
  'whose key id is no text': () =>
    tokenOf(issuer, { header: { kid: { toString: 'k1' } as never } }),
  'with an extension that must be understood': () =>
    unsigned({ alg: 'RS256', kid: 'k1', crit: ['x'], x: 1 }, () => 'AAAA'),
  'for another audience': () => tokenOf(issuer, { claims: { aud: 'https://other.test' } }),
  'for no audience': () => tokenOf(issuer, { claims: { aud: undefined } }),
  'of another issuer': () => tokenOf(issuer, { claims: { iss: 'https://other.test' } }),
  'of the issuer with a slash more': () => tokenOf(issuer, { claims: { iss: `${issuer.url}/` } }),
  'that has expired by more than clocks differ': () =>
    tokenOf(issuer, { claims: { exp: now() - 32 } }),
  'that never expires': () => tokenOf(issuer, { claims: { exp: undefined } }),
  'whose expiry is no number': () => tokenOf(issuer, { claims: { exp: '9999999999' } }),
  'that is not valid yet': () => tokenOf(issuer, { claims: { nbf: now() + 60 } }),
  'without the time of its making': () => tokenOf(issuer, { claims: { iat: undefined } }),
  'from the future': () => tokenOf(issuer, { claims: { iat: now() + 120 } }),
  'whose payload was changed': async () => {
    const [header, payload = '', signature] = (await tokenOf(issuer)).split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    return `${header}.${base64url({ ...claims, roles: ['admins'] })}.${signature}`;
  },
  'that is nothing but dots and letters': async () => 'a.b.c',
  'whose payload is no JSON': async () => `${base64url({ alg: 'RS256', kid: 'k1' })}.AAAA.AAAA`,
};

describe('a token', () => {
  it.each(Object.entries(REFUSED))('%s is 401, and nothing says why', async (_, make) => {
    log = '';
    const token = await make();
    const answer = await show(token);
    expect(answer).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': 'Bearer realm="holdfast", error="invalid_token"' },
      body: { code: 'unauthenticated' },
    });
    expect(answer.text).toBe((await show('hf_unknown')).text);
    // The log knows what was wrong, and neither the token nor a part of it.
    expect(log).toMatch(/"reason":"[^"]+"/);
    expect(log).not.toContain(token);
    expect(log).not.toContain(payloadOf(token).padEnd(40, ' ').slice(0, 40));
  });

  it.each(['HS256', 'HS384', 'HS512'])(
    'signed by %s with the public key as the secret is 401',
    async (alg) => {
      for (const secret of await publicKeyTexts()) {
        const sign = (input: string) =>
          createHmac(alg.replace('HS', 'sha'), secret).update(input).digest('base64url');
        expect((await show(await unsigned({ alg, kid: 'k1' }, sign))).status).toBe(401);
      }
    },
  );

  it.each(['RS512', 'ES384'])(
    'signed by %s is 401, also with a key of the issuer: only what is listed is taken',
    async (alg) => {
      const key = await newSigningKey(`k-${alg}`, alg);
      issuer.served.keys = [...issuer.served.keys, key];
      expect((await send({ key })).status).toBe(401);
      expect((await send()).status).toBe(200);
      issuer.served.keys = issuer.served.keys.filter((one) => one !== key);
    },
  );

  it('that is huge is refused before anybody looks at it', async () => {
    const asked = issuer.served.asked;
    expect((await send({ claims: { roles: ['operators', 'x'.repeat(9_000)] } })).status).toBe(401);
    const larger = await send({ claims: { roles: ['x'.repeat(30_000)] } }).catch(() => undefined);
    expect([431, undefined]).toContain(larger?.status);
    expect(issuer.served.asked).toBe(asked);
  });

  it('that has expired within what clocks may differ is taken, and so is one that starts so soon', async () => {
    expect((await send({ claims: { exp: now() - 15 } })).status).toBe(200);
    expect((await send({ claims: { nbf: now() + 15, iat: now() + 15 } })).status).toBe(200);
  });

  it('is no challenge with an error where none was sent', async () => {
    const answer = await api.call('GET', '/operator/queue', { as: null });
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="holdfast"');
  });
});

describe('the claims of a good token', () => {
  it.each([
    ['name no account', { holdfast_account: undefined }, /account/],
    ['name an account that is none', { holdfast_account: 'Acct-A' }, /account/],
    ['name a list of accounts', { holdfast_account: ['acct_a'] }, /account/],
    ['name an account too long', { holdfast_account: 'a'.repeat(65) }, /account/],
    ['name an account that is not served', { holdfast_account: 'acct_z' }, /not served/],
    ['do not say who asks', { sub: undefined }, /who asks/],
    ['name somebody with U+0000', { sub: 'a\0b' }, /who asks/],
    ['name nobody', { sub: '  ' }, /who asks/],
    ['give no role', { roles: undefined }, /at least one role/],
    ['give an unknown role', { roles: ['admin', 'root'] }, /at least one role/],
    [
      'give a role by the name of a member of all objects',
      { roles: ['__proto__', 'constructor'] },
      /at least one role/,
    ],
    ['make an agent an approver', { roles: ['agents', 'approvers'] }, /an agent has no other role/],
    ['make an agent an admin', { roles: ['admins', 'agents'] }, /an agent has no other role/],
  ])('that %s are 403 with the reason, and make no principal', async (_, claims, reason) => {
    const before = await register.count('select count(*) from principals');
    const answer = await send({ claims });
    expect(answer).toMatchObject({
      status: 403,
      body: { code: 'forbidden', detail: expect.stringMatching(reason) },
    });
    expect(await register.count('select count(*) from principals')).toBe(before);
  });
});

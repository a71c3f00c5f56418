// The whole way with a real identity provider: settings from the environment as an operator writes them, the API's own process wiring,
// discovery, keys, tokens.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeProtectedHeader } from 'jose';
import { pino } from 'pino';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type RunningApi } from '../../src/api/start-api.ts';
import { ensureSigningKeys } from '../../src/bootstrap/signing-keys.ts';
import { apiConfigOf, readConfig } from '../../src/config.ts';
import { freePort } from '../../src/supervisor/probes.ts';
import { paymentBody } from '../support/api.ts';
import { AUDIENCE, callersOf, settingsOf } from '../support/issuer.ts';
import { OTHER_AUDIENCE, startRealIssuer, type RealIssuer } from '../support/real-issuer.ts';
import { openRegister, secretOf, type Register } from '../support/register.ts';

const CLIENTS = [
  { id: 'billing-bot', account: 'acct_a', owner: 'billing', groups: ['holdfast-agents'] },
  { id: 'ops', account: 'acct_a', owner: 'ada', groups: ['holdfast-operators', 'staff'] },
  { id: 'boss', account: 'acct_a', owner: 'eve', groups: ['holdfast-admins'] },
  { id: 'b-ops', account: 'acct_b', owner: 'bob', groups: ['holdfast-operators'] },
  {
    id: 'two-faced',
    account: 'acct_a',
    owner: 'x',
    groups: ['holdfast-agents', 'holdfast-admins'],
  },
  { id: 'stranger', account: 'acct_z', owner: 'x', groups: ['holdfast-operators'] },
].map(({ id, account, owner, groups }) => ({
  id,
  claims: { 'https://holdfast.test/account': account, owner, realm_access: { roles: groups } },
}));

/** Claims as the settings of the hand-made issuer expect them. */
const PLAIN = { id: 'plain', claims: { holdfast_account: 'acct_a', roles: ['operators'] } };

let register: Register;
let issuer: RealIssuer;
let api: RunningApi;
let base: string;
let home: string;
beforeAll(async () => {
  register = await openRegister();
  issuer = await startRealIssuer([...CLIENTS, PLAIN]);
  home = mkdtempSync(join(tmpdir(), 'holdfast-issuer-'));
  const port = await freePort();
  const config = readConfig({
    DATABASE_URL: register.url,
    HOLDFAST_HOME: home,
    PORT: String(port),
    TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}`,
    OIDC_ISSUER: issuer.url,
    OIDC_AUDIENCE: AUDIENCE,
    OIDC_ACCOUNT_CLAIM: 'https://holdfast.test/account',
    OIDC_OWNER_CLAIM: 'owner',
    OIDC_ROLES_CLAIM: 'realm_access.roles',
    OIDC_ROLE_MAP: JSON.stringify({
      'holdfast-agents': 'agent',
      'holdfast-operators': 'operator',
      'holdfast-admins': 'admin',
    }),
  });
  ensureSigningKeys(config.keys);
  api = await startApi(apiConfigOf(config), pino({ level: 'silent' }));
  base = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  await api.stop();
  await issuer.stop();
  await register.close();
  rmSync(home, { recursive: true, force: true });
});

async function ask(bearer: string, method: 'GET' | 'POST' | 'PUT', path: string, body?: object) {
  const answer = await request(`${base}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${bearer}`,
      ...(body && { 'content-type': 'application/json', 'idempotency-key': 'key-of-the-bot' }),
    },
    body: body ? JSON.stringify(body) : null,
  });
  return {
    status: answer.statusCode,
    body: (await answer.body.json()) as Record<string, unknown>,
  };
}

const principals = async (bearer: string) =>
  (await ask(bearer, 'GET', '/operator/principals')).body['principals'] as {
    readonly principal_id: string;
    readonly owner: string;
    readonly signs_in_by: string;
  }[];

describe('with a real issuer', () => {
  it('an agent is granted a kind by an admin, submits, and an operator of its account reads it', async () => {
    const bot = await issuer.token('billing-bot');
    expect(decodeProtectedHeader(bot)).toMatchObject({ alg: 'RS256', typ: 'at+jwt' });
    expect((await ask(bot, 'GET', '/kinds')).status).toBe(200);
    const boss = await issuer.token('boss');
    const found = (await principals(boss)).find(({ owner }) => owner === 'billing');
    expect(found).toMatchObject({ signs_in_by: 'oidc' });
    const grant = `/operator/principals/${found?.principal_id}/grants/payment`;
    expect((await ask(boss, 'PUT', grant)).status).toBe(200);
    const claimed = await ask(bot, 'POST', '/agent/operations/payment', paymentBody());
    expect(claimed).toMatchObject({ status: 202, body: { agent_id: found?.principal_id } });
    const path = `/agent/operations/${String(claimed.body['operation_id'])}`;
    expect((await ask(await issuer.token('ops'), 'GET', path)).status).toBe(200);
    expect((await ask(await issuer.token('b-ops'), 'GET', path)).status).toBe(404);
  });

  it('names count only where they are mapped, and a role only for what it is', async () => {
    const ops = await issuer.token('ops');
    expect((await ask(ops, 'GET', '/operator/queue')).status).toBe(200);
    expect((await ask(ops, 'GET', '/operator/principals')).status).toBe(403);
  });

  it('an agent with another role, and an account that is not served, are refused with the reason', async () => {
    expect((await ask(await issuer.token('two-faced'), 'GET', '/kinds')).body).toMatchObject({
      code: 'forbidden',
      detail: expect.stringContaining('an agent has no other role'),
    });
    expect((await ask(await issuer.token('stranger'), 'GET', '/kinds')).body).toMatchObject({
      code: 'forbidden',
      detail: expect.stringContaining('not served'),
    });
  });

  it('a token for somebody else is refused', async () => {
    const token = await issuer.token('ops', OTHER_AUDIENCE);
    expect((await ask(token, 'GET', '/operator/queue')).status).toBe(401);
  });

  it('API keys are taken beside tokens', async () => {
    expect((await ask(secretOf('acct_a.operator'), 'GET', '/operator/queue')).status).toBe(200);
  });

  it('somebody who signs in there gets no key', async () => {
    const boss = await issuer.token('boss');
    const found = (await principals(boss)).find(({ owner }) => owner === 'eve');
    const keys = `/operator/principals/${found?.principal_id}/keys`;
    expect(await ask(boss, 'POST', keys, {})).toMatchObject({
      status: 409,
      body: { code: 'wrong_state' },
    });
  });

  it('new keys are taken when it rotates them, and what the old ones signed no longer', async () => {
    const find = callersOf(register, settingsOf(issuer.url));
    const old = await issuer.token('plain');
    expect((await find(old, null))?.principal.roles).toEqual(['operator']);
    await issuer.renewKeys();
    expect(await find(await issuer.token('plain'), null)).toBeDefined();
    expect(await find(old, null)).toBeUndefined();
  });
});

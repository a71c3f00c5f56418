// Who may act in an account, administered over HTTP.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newKey, paymentBody, startTestApi, type TestApi } from '../support/api.ts';
import { ADMIN } from '../support/operators.ts';
import { begin, openRegister, stored, type Register } from '../support/register.ts';

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

const JSON_TYPE = { 'content-type': 'application/json' };
const create = (body: unknown, as = ADMIN) =>
  api.call('POST', '/operator/principals', { as, headers: JSON_TYPE, body });
const list = async (query = '', as = ADMIN) =>
  (await api.call('GET', `/operator/principals${query}`, { as })).body as {
    readonly principals: readonly { readonly principal_id: string }[];
    readonly next_cursor: string | null;
  };
const change = (id: string, action: 'disable' | 'enable', as = ADMIN) =>
  api.call('POST', `/operator/principals/${encodeURIComponent(id)}/${action}`, { as });
const logOf = (id: string) =>
  register.rows(
    'select account_id, by_principal, action, subject from administration_log where principal_id = $1 order by entry_id',
    [id],
  );

const AGENT = { name: 'bot', owner: 'billing', roles: ['agent'], grants: ['payment', 'ticket'] };

describe('a new principal', () => {
  it('is of the admin’s account, has what it was given, and is written down with who gave it', async () => {
    const answer = await create(AGENT);
    expect(answer).toMatchObject({
      status: 201,
      body: {
        principal_id: 'acct_a.bot',
        owner: 'billing',
        roles: ['agent'],
        grants: ['payment', 'ticket'],
        signs_in_by: 'api_key',
        created_at: expect.any(String),
        disabled_at: null,
      },
    });
    expect((await list()).principals).toContainEqual(answer.body);
    expect(await logOf('acct_a.bot')).toEqual([
      { account_id: 'acct_a', by_principal: ADMIN, action: 'principal_created', subject: null },
    ]);
  });

  it('has a name that is free, in this account', async () => {
    const body = { name: 'twice', owner: 'o', roles: ['auditor'] };
    expect((await create(body)).status).toBe(201);
    expect(await create({ ...body, owner: 'thief' })).toMatchObject({
      status: 409,
      body: { code: 'wrong_state' },
    });
    expect((await create(body, 'acct_b.admin')).body['principal_id']).toBe('acct_b.twice');
  });

  it.each([
    ['an agent with another role', { roles: ['agent', 'approver'] }, '/roles'],
    ['no role', { roles: [] }, '/roles'],
    ['an unknown role', { roles: ['root'] }, '/roles/0'],
    ['grants of a person', { roles: ['operator'] }, '/grants'],
    ['an unknown kind', { grants: ['rocket'] }, '/grants/0'],
    ['a name with a dot', { name: 'a.b' }, '/name'],
    ['a name like those of the identity provider', { name: 'oidc:1' }, '/name'],
    ['no owner', { owner: ' ' }, '/owner'],
    ['an account', { account_id: 'acct_b' }, '/account_id'],
  ])('with %s is 422, and there is none', async (_, wrong, pointer) => {
    const before = await register.count('select count(*) from principals');
    expect(await create({ ...AGENT, name: 'wrong', ...wrong })).toMatchObject({
      status: 422,
      body: {
        code: 'invalid_command',
        errors: expect.arrayContaining([expect.objectContaining({ pointer })]),
      },
    });
    expect(await register.count('select count(*) from principals')).toBe(before);
  });

  it('with roles and grants said twice has them once', async () => {
    const body = {
      name: 'doubled',
      owner: 'o',
      roles: ['agent', 'agent'],
      grants: ['payment', 'payment'],
    };
    expect((await create(body)).body).toMatchObject({ roles: ['agent'], grants: ['payment'] });
  });

  it('that is an agent needs an account that is served: it would keep every API from starting', async () => {
    await register.rows(`insert into principals values ('acct_z.admin', 'acct_z', 'z', '{admin}')`);
    await register.rows(
      `insert into api_keys (key_id, principal_id, secret_sha256) values ('z', 'acct_z.admin', sha256('secret-of-acct_z.admin'))`,
    );
    expect((await create(AGENT, 'acct_z.admin')).body['code']).toBe('wrong_state');
    const person = { name: 'p', owner: 'o', roles: ['operator'] };
    expect((await create(person, 'acct_z.admin')).status).toBe(201);
  });
});

describe('the list of principals', () => {
  it('has those of the account, by id, page by page, each once', async () => {
    const all = (await list('?limit=100')).principals.map((one) => one.principal_id);
    expect(all).toEqual(all.toSorted());
    expect(all.every((id) => id.startsWith('acct_a.'))).toBe(true);
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { principals, next_cursor }: Awaited<ReturnType<typeof list>> = await list(
        `?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      expect(principals.length).toBeLessThanOrEqual(3);
      seen.push(...principals.map((one) => one.principal_id));
      cursor = next_cursor;
    }
    expect(seen).toEqual(all);
  });

  it.each(['?cursor=AAAA', '?limit=0', '?x=1'])('refuses %s', async (query) => {
    const answer = await api.call('GET', `/operator/principals${query}`, { as: ADMIN });
    expect(answer.body['code']).toBe('invalid_parameter');
  });
});

describe('disabling', () => {
  it('refuses a principal’s keys at once, and enabling takes them again', async () => {
    const id = 'acct_a.auditor';
    const read = () => api.call('GET', '/audit/events', { as: id });
    expect((await read()).status).toBe(200);
    const first = await change(id, 'disable');
    expect(first).toMatchObject({ status: 200, body: { disabled_at: expect.any(String) } });
    expect((await read()).body['code']).toBe('unauthenticated');
    expect((await change(id, 'disable')).body['disabled_at']).toBe(first.body['disabled_at']);
    expect((await change(id, 'enable')).body['disabled_at']).toBeNull();
    expect((await read()).status).toBe(200);
    expect((await logOf(id)).map((row) => row['action'])).toEqual([
      'principal_disabled',
      'principal_enabled',
    ]);
  });

  it('of an agent stops what it has submitted and what is not sent yet', async () => {
    const { body } = await api.submit(newKey(), paymentBody(), { as: 'acct_a.agent_2' });
    const id = String(body['operation_id']);
    await change('acct_a.agent_2', 'disable');
    await register.rows(
      `update operations set agent_id = 'acct_a.agent_2' where operation_id = $1`,
      [id],
    );
    expect(await begin(register, id)).toBe('ended');
    expect((await stored(register, id)).operation.status).toBe('REJECTED');
    await change('acct_a.agent_2', 'enable');
  });

  it('of another account’s principal is 404, as of one that never was', async () => {
    for (const action of ['disable', 'enable'] as const) {
      const never = await change('acct_a.never', action);
      expect(never).toMatchObject({ status: 404, body: { code: 'not_found' } });
      for (const other of ['acct_b.agent', '\0', 'x'.repeat(300)]) {
        expect((await change(other, action)).text).toBe(never.text);
      }
    }
    expect(await logOf('acct_b.agent')).toEqual([]);
  });
});

describe('administration', () => {
  const CALLS = [
    ['GET', '/operator/principals'],
    ['POST', '/operator/principals'],
    ['POST', '/operator/principals/acct_a.agent/disable'],
    ['POST', '/operator/principals/acct_a.agent/enable'],
    ['GET', '/operator/principals/acct_a.agent/keys'],
    ['POST', '/operator/principals/acct_a.agent/keys'],
    ['POST', '/operator/keys/acct_a.agent.key/rotate'],
    ['POST', '/operator/keys/acct_a.agent.key/revoke'],
  ] as const;

  it.each(CALLS)(
    '%s %s is for admins, before a body is read, and tries are audited',
    async (method, path) => {
      for (const role of ['agent', 'approver', 'operator', 'auditor']) {
        const answer = await api
          .call(method, path, { as: `acct_a.${role}`, body: 'no JSON' })
          .catch(() => api.call(method, path, { as: `acct_a.${role}` }));
        expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      }
      expect((await api.call(method, path, { as: null })).status).toBe(401);
      expect((await api.call('PATCH', path, { as: ADMIN })).status).toBe(405);
      const route = path
        .replace('acct_a.agent.key', '{key_id}')
        .replace('acct_a.agent', '{principal_id}');
      const tries = await register.count(
        `select count(*) from audit_events where type = 'refused' and route = $1`,
        [route],
      );
      expect(tries).toBeGreaterThanOrEqual(4);
    },
  );
});

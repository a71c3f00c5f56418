import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';
import { ADMIN, OPERATOR } from '../support/operators.ts';
import { begin, claimed, openRegister, type Register } from '../support/register.ts';

let register: Register;
let api: TestApi;
beforeAll(async () => {
  register = await openRegister();
  api = await startTestApi(register);
});
beforeEach(() => register.rows('delete from holds'));
afterAll(async () => {
  await api.stop();
  await register.close();
});

const post = (path: string, as = OPERATOR) => api.call('POST', `/operator/${path}`, { as });
const PAUSE = 'connections/sandbox_acct_a/pause';
const RESUME = 'connections/sandbox_acct_a/resume';

/** What an intent of a fresh payment comes to. */
async function intentIn(accountId: string): Promise<'held' | 'sent'> {
  const { id } = await claimed(register, { accountId });
  return (await begin(register, id)) === 'held' ? 'held' : 'sent';
}

const intents = async () => [await intentIn('acct_a'), await intentIn('acct_b')];
const holds = () => register.rows('select account_id, connection, principal_id from holds');

describe('a pause by an operator', () => {
  it('holds new intents of the connection in the account until it is resumed', async () => {
    expect(await post(PAUSE)).toMatchObject({
      status: 200,
      body: {
        connection: 'sandbox_acct_a',
        held: true,
        holds: [{ scope: 'account', connection: 'sandbox_acct_a', principal_id: OPERATOR }],
      },
    });
    expect(await intents()).toEqual(['held', 'sent']);
    expect((await post(RESUME)).body).toMatchObject({ held: false, holds: [] });
    expect(await intents()).toEqual(['sent', 'sent']);
  });

  it('again is 200 and leaves who set it first', async () => {
    await post(PAUSE);
    const before = await holds();
    expect((await post(PAUSE)).status).toBe(200);
    expect(await holds()).toEqual(before);
    await post(RESUME);
    expect((await post(RESUME)).status).toBe(200);
  });

  it.each(['sandbox_acct_b', 'nothing', '*', 'sandbox_acct_a%00'])(
    'of %s is 404: it does not serve the account',
    async (name) => {
      for (const action of ['pause', 'resume']) {
        expect(await post(`connections/${name}/${action}`)).toMatchObject({
          status: 404,
          body: { code: 'not_found' },
        });
      }
      expect(await holds()).toEqual([]);
    },
  );
});

describe('a halt', () => {
  it('by an operator holds everything of the account', async () => {
    expect((await post('halt')).body).toMatchObject({ connection: null, held: true });
    expect(await intents()).toEqual(['held', 'sent']);
    expect((await post('unhalt')).body).toMatchObject({ held: false });
    expect(await intents()).toEqual(['sent', 'sent']);
  });

  it('by an admin holds everything of all accounts', async () => {
    expect((await post('halt', ADMIN)).body).toMatchObject({
      holds: [{ scope: 'all_accounts', connection: null, principal_id: ADMIN }],
    });
    expect(await intents()).toEqual(['held', 'held']);
    await post('unhalt', ADMIN);
    expect(await intents()).toEqual(['sent', 'sent']);
  });

  it('by an admin stays when an operator lifts the own one, and is shown', async () => {
    await post('halt');
    await post('halt', ADMIN);
    expect((await post('unhalt')).body).toMatchObject({
      held: true,
      holds: [{ scope: 'all_accounts' }],
    });
    expect(await intents()).toEqual(['held', 'held']);
  });

  it('of all accounts does not tell other accounts who set it', async () => {
    await post('halt', ADMIN);
    const { body } = await post('unhalt', 'acct_b.operator');
    expect(body).toMatchObject({ holds: [{ scope: 'all_accounts', principal_id: null }] });
  });

  it('is lifted apart from a pause', async () => {
    await post(PAUSE);
    await post('halt');
    await post('unhalt');
    expect(await intents()).toEqual(['held', 'sent']);
    expect((await post(RESUME)).body).toMatchObject({ held: false });
  });
});

describe('a pause by an admin', () => {
  it('may be of any connection, for all accounts', async () => {
    expect((await post('connections/sandbox_acct_b/pause', ADMIN)).status).toBe(200);
    expect(await intents()).toEqual(['sent', 'held']);
    expect((await post('connections/nothing/pause', ADMIN)).status).toBe(404);
  });
});

describe.each([PAUSE, RESUME, 'halt', 'unhalt'])('%s', (path) => {
  it.each(['acct_a.agent', 'acct_a.approver', 'acct_a.auditor'])(
    'is forbidden to %s, and the try is audited',
    async (as) => {
      const tries = `select count(*) from audit_events where type = 'refused' and principal_id = $1`;
      const before = await register.count(tries, [as]);
      expect(await post(path, as)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      expect(await register.count(tries, [as])).toBe(before + 1);
      expect(await holds()).toEqual([]);
    },
  );

  it('needs a credential, takes only POST and no query', async () => {
    const url = `/operator/${path}`;
    expect((await api.call('POST', url, { as: null })).status).toBe(401);
    expect((await api.call('GET', url, { as: OPERATOR })).status).toBe(405);
    expect((await api.call('POST', `${url}?all=1`, { as: OPERATOR })).status).toBe(400);
  });
});

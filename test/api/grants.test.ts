import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';
import { ADMIN } from '../support/operators.ts';
import { begin, claimed, openRegister, stored, type Register } from '../support/register.ts';

let register: Register;
let api: TestApi;
beforeAll(async () => {
  register = await openRegister();
  api = await startTestApi(register);
});
beforeEach(() =>
  register.rows(
    `insert into grants values ('acct_a.agent', 'payment'), ('acct_b.agent', 'payment') on conflict do nothing`,
  ),
);
afterAll(async () => {
  await api.stop();
  await register.close();
});

const change = (method: string, principal: string, kind: string, as = ADMIN) =>
  api.call(method, `/operator/principals/${principal}/grants/${kind}`, { as });
const grantsOf = async (principal: string) =>
  (
    await register.rows('select kind from grants where principal_id = $1 order by kind', [
      principal,
    ])
  ).map((row) => row['kind']);

describe('a grant', () => {
  it('given lets an agent submit the kind, taken no longer', async () => {
    const body = { amount: '1.00', currency: 'USD', customer_id: 'cus_1', invoice_id: 'i-1' };
    expect(await change('DELETE', 'acct_a.agent', 'payment')).toMatchObject({
      status: 200,
      body: { principal_id: 'acct_a.agent', grants: [] },
    });
    expect((await api.submit('k-1', body)).status).toBe(403);
    expect((await change('PUT', 'acct_a.agent', 'payment')).body).toMatchObject({
      grants: ['payment'],
    });
    expect((await api.submit('k-1', body)).status).toBe(202);
  });

  it('taken before the send stops what was submitted under it', async () => {
    const { id } = await claimed(register);
    await change('DELETE', 'acct_a.agent', 'payment');
    expect(await begin(register, id)).toBe('ended');
    expect((await stored(register, id)).operation.status).toBe('REJECTED');
  });

  it('is written down once, with who gave or took it', async () => {
    for (const method of ['PUT', 'PUT', 'DELETE', 'DELETE']) {
      await change(method, 'acct_a.agent_2', 'refund');
    }
    expect(
      await register.rows(
        `select action, by_principal, subject from administration_log
         where principal_id = 'acct_a.agent_2' order by entry_id`,
      ),
    ).toEqual([
      { action: 'grant_given', by_principal: ADMIN, subject: 'refund' },
      { action: 'grant_taken', by_principal: ADMIN, subject: 'refund' },
    ]);
  });

  it('given or taken again changes nothing', async () => {
    for (const method of ['PUT', 'PUT', 'DELETE', 'DELETE']) {
      expect((await change(method, 'acct_a.agent', 'refund')).status).toBe(200);
    }
    expect(await grantsOf('acct_a.agent')).toEqual(['payment']);
  });

  it('of a principal of another account is 404, as of one that never was', async () => {
    for (const method of ['PUT', 'DELETE']) {
      const never = await change(method, 'nobody', 'payment');
      expect(never).toMatchObject({ status: 404, body: { code: 'not_found' } });
      expect((await change(method, 'acct_b.agent', 'payment')).text).toBe(never.text);
      expect((await change(method, '%00', 'payment')).text).toBe(never.text);
    }
    expect(await grantsOf('acct_b.agent')).toEqual(['payment']);
  });

  it.each(['acct_a.agent', 'acct_b.agent', 'nobody'])(
    'of a kind that is not known is 404 unknown_kind, whoever %s is',
    async (principal) => {
      const answer = await change('PUT', principal, 'rocket');
      expect(answer).toMatchObject({ status: 404, body: { code: 'unknown_kind' } });
    },
  );

  it.each(['acct_a.approver', 'acct_a.operator', 'acct_a.auditor', ADMIN])(
    'is not for %s: only agents hold grants',
    async (principal) => {
      const answer = await change('PUT', principal, 'payment');
      expect(answer).toMatchObject({ status: 409, body: { code: 'wrong_state' } });
      expect(await grantsOf(principal)).toEqual([]);
    },
  );

  it.each(['acct_a.agent', 'acct_a.operator', 'acct_a.approver', 'acct_a.auditor', 'acct_b.admin'])(
    'of acct_a is not given by %s',
    async (as) => {
      const answer = await change('PUT', 'acct_a.agent', 'refund', as);
      expect(answer.status).toBe(as === 'acct_b.admin' ? 404 : 403);
      expect(await grantsOf('acct_a.agent')).toEqual(['payment']);
    },
  );
});

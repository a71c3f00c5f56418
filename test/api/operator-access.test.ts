// Who reaches the actions on operations, and what others learn of an operation by trying.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';
import { act, EVIDENCE, lostPayment, OPERATOR, YES } from '../support/operators.ts';
import { openRegister, traceOf, type Register } from '../support/register.ts';

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

const BODIES = {
  reconcile: undefined,
  resolve: YES,
  release: { evidence: EVIDENCE },
  erase: undefined,
} as const;

describe.each(Object.entries(BODIES))('%s', (action, body) => {
  it.each(['acct_a.agent', 'acct_a.approver', 'acct_a.auditor', 'acct_a.admin'])(
    'is forbidden to %s, before anything is said about the operation, and audited',
    async (as) => {
      const id = await lostPayment(register);
      const before = await traceOf(register, id);
      const answer = await act(api, id, action, body, as);
      expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      expect((await act(api, 'op_never', action, 'no JSON', as)).text).toBe(answer.text);
      expect(await traceOf(register, id)).toEqual(before);
      const tries = await register.rows(
        `select operation_id, detail from audit_events
         where type = 'refused' and principal_id = $1 and route = $2`,
        [as, `/operator/operations/{id}/${action}`],
      );
      const tried = { operation_id: null, detail: { code: 'forbidden' } };
      expect(tries).toEqual([tried, tried]);
    },
  );

  it('of another account is 404, with the body of an id that never was', async () => {
    const id = await lostPayment(register);
    const before = await traceOf(register, id);
    const never = await act(api, 'op_never', action, body);
    expect(never).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await act(api, id, action, body, 'acct_b.operator')).toMatchObject({
      status: 404,
      text: never.text,
    });
    for (const odd of ['\0', 'a b', '..', 'x'.repeat(200)]) {
      expect((await act(api, odd, action, body)).status).toBe(404);
    }
    expect(await traceOf(register, id)).toEqual(before);
  });

  it('needs a credential and takes only POST', async () => {
    const path = `/operator/operations/op_1/${action}`;
    expect((await api.call('POST', path, { as: null })).status).toBe(401);
    const answer = await api.call('GET', path, { as: OPERATOR });
    expect(answer).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  });
});

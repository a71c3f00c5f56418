import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATION_STATES } from '../../src/domain/operation-state.ts';
import { revokeKind } from '../../src/store/grants.store.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { OPERATOR } from '../support/operators.ts';
import {
  auditTypes,
  begin,
  claimed,
  openRegister,
  operationIn,
  stored,
  type Register,
} from '../support/register.ts';

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

const cancel = (id: string, as = 'acct_a.agent') =>
  api.call('POST', `/agent/operations/${encodeURIComponent(id)}/cancel`, { as });

describe('canceling', () => {
  it.each(['PENDING', 'AWAITING_APPROVAL'] as const)(
    'ends %s at once; nothing was sent, and the invoice is free',
    async (state) => {
      const { id } = await operationIn(register, state);
      const answer = await cancel(id);
      expect(answer).toMatchObject({
        status: 200,
        body: { status: 'CANCELED', safe_to_use_new_key: true },
      });
      expect((await api.call('GET', `/agent/operations/${id}`)).text).toBe(answer.text);
      const keys = 'select count(*) from business_keys where operation_id = $1';
      expect(await register.count(keys, [id])).toBe(0);
      expect(await begin(register, id)).toBeUndefined();
    },
  );

  it('again answers the same bytes and writes nothing', async () => {
    const { id } = await claimed(register);
    const first = await cancel(id);
    const before = await auditTypes(register, id);
    expect(await cancel(id)).toMatchObject({ status: 200, text: first.text });
    expect(await auditTypes(register, id)).toEqual(before);
  });

  it.each(
    OPERATION_STATES.filter(
      (state) => !['PENDING', 'AWAITING_APPROVAL', 'CANCELED'].includes(state),
    ),
  )('is too late in %s', async (state) => {
    const { id } = await operationIn(register, state);
    expect(await cancel(id)).toMatchObject({
      status: 409,
      body: { code: 'too_late_to_cancel', operation_id: id, operation_status: state },
    });
    expect((await stored(register, id)).operation.status).toBe(state);
  });

  it('at the moment of the intent: it is sent or canceled, never both', async () => {
    for (let round = 0; round < 8; round++) {
      const { id } = await claimed(register);
      const [answer] = await Promise.all([cancel(id), begin(register, id)]);
      const { operation, attempts } = await stored(register, id);
      const sent = attempts.length === 1;
      expect(operation.status).toBe(sent ? 'IN_PROGRESS' : 'CANCELED');
      expect(answer.status).toBe(sent ? 409 : 200);
    }
  });

  it('is open to an operator of the account, and the audit says who it was', async () => {
    const { id } = await claimed(register);
    expect((await cancel(id, OPERATOR)).status).toBe(200);
    const [event] = await register.rows(
      `select principal_id from audit_events where operation_id = $1 and to_state = 'CANCELED'`,
      [id],
    );
    expect(event).toEqual({ principal_id: OPERATOR });
  });

  it.each(['acct_a.approver', 'acct_a.auditor', 'acct_a.admin'])(
    'is forbidden to %s, and the try is audited',
    async (as) => {
      const { id } = await claimed(register);
      expect(await cancel(id, as)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      const tried = `select count(*) from audit_events where type = 'refused' and principal_id = $1`;
      expect(await register.count(tried, [as])).toBe(1);
    },
  );

  it('of what somebody else has is 404, with the body of an id that never was', async () => {
    const { id } = await claimed(register);
    const never = await cancel('op_never');
    expect(never).toMatchObject({ status: 404, body: { code: 'not_found' } });
    for (const as of ['acct_a.agent_2', 'acct_b.agent', 'acct_b.operator']) {
      expect(await cancel(id, as)).toMatchObject({ status: 404, text: never.text });
    }
    expect((await cancel('\0')).text).toBe(never.text);
    expect((await stored(register, id)).operation.status).toBe('PENDING');
  });

  it('of a kind that the agent is no longer granted is 404', async () => {
    const { id } = await claimed(register, { accountId: 'acct_b' });
    const change = { accountId: 'acct_b', principalId: 'acct_b.agent', kind: 'payment' };
    await revokeKind(register.pool, change);
    expect((await cancel(id, 'acct_b.agent')).status).toBe(404);
  });

  it('takes only POST', async () => {
    const { id } = await claimed(register);
    const answer = await api.call('GET', `/agent/operations/${id}/cancel`);
    expect(answer).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  });
});

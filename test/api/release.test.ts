import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATION_STATES } from '../../src/domain/operation-state.ts';
import { claim } from '../../src/store/claims.store.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { act, addOperators, COLLEAGUE, EVIDENCE } from '../support/operators.ts';
import {
  claimOf,
  move,
  openRegister,
  operationIn,
  stored,
  traceOf,
  type Register,
} from '../support/register.ts';

let register: Register;
let api: TestApi;
beforeAll(async () => {
  register = await openRegister();
  await addOperators(register);
  api = await startTestApi(register);
});
afterAll(async () => {
  await api.stop();
  await register.close();
});

const release = (id: string, as?: string) => act(api, id, 'release', { evidence: EVIDENCE }, as);

describe('releasing', () => {
  it('lets the same invoice be paid under a new key, and leaves the operation as it is', async () => {
    const { id, operation } = await operationIn(register, 'SUCCEEDED', { invoice: 'inv-1' });
    const again = claimOf({ invoice: 'inv-1' });
    expect(await claim(register.pool, again)).toMatchObject({ status: 'business_duplicate' });
    expect(await release(id)).toMatchObject({ status: 200, text: operation.responseBody });
    expect((await claim(register.pool, again)).status).toBe('claimed');
    expect((await stored(register, id)).operation).toEqual(operation);
  });

  it('is audited as resolved, with a hash of the evidence', async () => {
    const { id } = await operationIn(register, 'SUCCEEDED');
    await release(id);
    const events = await register.rows(
      `select principal_id, detail from audit_events where operation_id = $1 and type = 'resolved'`,
      [id],
    );
    expect(events).toEqual([
      {
        principal_id: 'acct_a.operator',
        detail: {
          step: 'released',
          outcome: 'released',
          evidence_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
      },
    ]);
  });

  it('again is 200 and writes nothing, also when another operation has the key by now', async () => {
    const { id } = await operationIn(register, 'SUCCEEDED', { invoice: 'inv-2' });
    await release(id);
    const before = await traceOf(register, id);
    expect((await release(id)).status).toBe(200);
    const next = await claim(register.pool, claimOf({ invoice: 'inv-2' }));
    expect((await release(id)).status).toBe(200);
    expect(await traceOf(register, id)).toEqual(before);
    const holder = await register.rows(
      `select operation_id from business_keys where business_key = '["inv-2"]'`,
    );
    expect(next.status === 'claimed' && holder).toEqual([
      { operation_id: next.status === 'claimed' && next.operation.operationId },
    ]);
  });

  it.each(OPERATION_STATES.filter((state) => state !== 'SUCCEEDED'))(
    'is 409 wrong_state in %s, and keeps what is held',
    async (state) => {
      const { id } = await operationIn(register, state);
      const before = await traceOf(register, id);
      expect(await release(id)).toMatchObject({
        status: 409,
        body: { code: 'wrong_state', operation_status: state },
      });
      expect(await traceOf(register, id)).toEqual(before);
    },
  );

  it('of an operation without a business key is 409 wrong_state', async () => {
    const { id } = await operationIn(register, 'SUCCEEDED', { invoice: null });
    expect(await release(id)).toMatchObject({ status: 409, body: { code: 'wrong_state' } });
  });

  it('is not for the owner of who submitted it', async () => {
    const { id } = await operationIn(register, 'SUCCEEDED');
    expect((await release(id, COLLEAGUE)).body).toMatchObject({ code: 'own_request' });
  });

  it('needs evidence', async () => {
    const { id } = await operationIn(register, 'SUCCEEDED');
    expect((await act(api, id, 'release', {})).status).toBe(422);
  });

  it('does not take the key back when the operation is reopened', async () => {
    const { id } = await operationIn(register, 'SUCCEEDED', { invoice: 'inv-3' });
    await release(id);
    await move(register, id, { to: 'NEEDS_REVIEW', reviewReason: 'evidence_contradicts' });
    expect((await claim(register.pool, claimOf({ invoice: 'inv-3' }))).status).toBe('claimed');
  });
});

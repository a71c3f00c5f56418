import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OPERATION_STATES } from '../../src/domain/operation-state.ts';
import type { Operation } from '../../src/domain/operation.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { fakeStarter } from '../support/fake-starter.ts';
import { OUTCOMES } from '../support/operation-file.ts';
import { act, lostPayment } from '../support/operators.ts';
import {
  attempted,
  begin,
  claimed,
  openRegister,
  operationIn,
  type Register,
} from '../support/register.ts';

let register: Register;
let api: TestApi;
let engineIsAway = false;
const asked: string[] = [];

async function lookNow({ operationId }: Operation): Promise<void> {
  if (engineIsAway) throw new Error('away');
  asked.push(operationId);
}

beforeAll(async () => {
  register = await openRegister();
  api = await startTestApi(register, { starter: { ...fakeStarter(), lookNow } });
});
beforeEach(() => {
  engineIsAway = false;
});
afterAll(async () => {
  await api.stop();
  await register.close();
});

const looks = (id: string) =>
  register.rows(
    `select next_delivery_at > holdfast_now() as later from outbox_messages
     where operation_id = $1 and type = 'look'`,
    [id],
  );

describe('having the provider asked now', () => {
  it.each(['UNKNOWN', 'RECONCILING', 'NEEDS_REVIEW'] as const)(
    'in %s tells the engine at once and leaves no message',
    async (status) => {
      const id = await lostPayment(register, { status });
      const answer = await act(api, id, 'reconcile');
      expect(answer).toMatchObject({
        status: 202,
        headers: { location: `/agent/operations/${id}` },
        body: { operation_id: id, status },
      });
      await expect.poll(() => asked).toContain(id);
      await expect.poll(() => looks(id)).toEqual([]);
    },
  );

  it('while a provider still works on it, and after a call that was lost with its worker', async () => {
    const { id: pending } = await attempted(register, [OUTCOMES.pending]);
    const { id: lost } = await claimed(register);
    await begin(register, lost);
    await register.rows(
      `update attempts set started_at = started_at - interval '1 hour' where operation_id = $1`,
      [lost],
    );
    for (const id of [pending, lost]) {
      expect(await act(api, id, 'reconcile')).toMatchObject({
        status: 202,
        body: { status: 'IN_PROGRESS' },
      });
    }
  });

  it('with the engine away is kept for the relay, once however often it is asked for', async () => {
    engineIsAway = true;
    const id = await lostPayment(register);
    for (let n = 0; n < 3; n++) expect((await act(api, id, 'reconcile')).status).toBe(202);
    expect(await looks(id)).toEqual([{ later: true }]);
  });

  it('leaves a call alone that may still be answered', async () => {
    const { id } = await claimed(register);
    await begin(register, id);
    expect(await act(api, id, 'reconcile')).toMatchObject({
      status: 409,
      body: { code: 'wrong_state', operation_status: 'IN_PROGRESS' },
    });
    expect(await looks(id)).toEqual([]);
  });

  it.each(
    OPERATION_STATES.filter((state) => !['UNKNOWN', 'RECONCILING', 'NEEDS_REVIEW'].includes(state)),
  )('is 409 wrong_state in %s', async (state) => {
    const { id } = await operationIn(register, state);
    expect(await act(api, id, 'reconcile')).toMatchObject({
      status: 409,
      body: { code: 'wrong_state', operation_id: id, operation_status: state },
    });
    expect(await looks(id)).toEqual([]);
  });
});

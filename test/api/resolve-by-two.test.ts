// What the policy had held for approval: two people of different owners have to say the same.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storeAttemptOutcome } from '../../src/store/attempts.store.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { OUTCOMES } from '../support/operation-file.ts';
import {
  act,
  addOperators,
  EVIDENCE,
  looked,
  lostPayment,
  NO,
  OPERATOR,
  SECOND,
  TEAMMATE,
  YES,
} from '../support/operators.ts';
import { auditTypes, openRegister, stored, type Register } from '../support/register.ts';

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

const LARGE = { amount: '1000.00', wasHeld: true };
const resolve = (id: string, body: unknown, as?: string) => act(api, id, 'resolve', body, as);
const statusOf = async (id: string) => (await stored(register, id)).operation.status;

describe('resolving from the approval threshold on', () => {
  it('stores the first word, changes nothing, and is applied by the second', async () => {
    const id = await lostPayment(register, LARGE);
    const first = await resolve(id, YES);
    expect(first).toMatchObject({
      status: 202,
      body: {
        operation_id: id,
        status: 'UNKNOWN',
        resolution: {
          status: 'awaiting_second',
          outcome: 'succeeded',
          provider_reference: null,
          principal_id: OPERATOR,
        },
      },
    });
    expect(await statusOf(id)).toBe('UNKNOWN');
    const second = await resolve(id, { ...YES, evidence: 'I saw it too.' }, SECOND);
    expect(second).toMatchObject({ status: 200, body: { status: 'SUCCEEDED' } });
    expect((await stored(register, id)).operation.resolvedBy).toBe(SECOND);
    expect((await auditTypes(register, id)).slice(-3)).toEqual([
      'resolved',
      'resolved',
      'transition UNKNOWN>SUCCEEDED',
    ]);
    const said = await register.rows(
      `select detail ->> 'principal_id' as by, detail ->> 'step' as step, detail ->> 'evidence' as evidence
       from evidence where operation_id = $1 and type = 'person' order by evidence_id`,
      [id],
    );
    expect(said).toEqual([
      { by: OPERATOR, step: 'proposed', evidence: EVIDENCE },
      { by: SECOND, step: 'applied', evidence: 'I saw it too.' },
    ]);
  });

  it('below it one person is enough', async () => {
    const id = await lostPayment(register, { amount: '999.99' });
    expect((await resolve(id, YES)).status).toBe(200);
  });

  it.each([
    ['the same person', OPERATOR],
    ['somebody of the same owner', TEAMMATE],
  ])('%s is no second person: 409 and audited', async (_, as) => {
    const id = await lostPayment(register, LARGE);
    await resolve(id, YES);
    expect(await resolve(id, YES, as)).toMatchObject({
      status: 409,
      body: { code: 'second_person_required' },
    });
    expect(await statusOf(id)).toBe('UNKNOWN');
    expect(await auditTypes(register, id)).toContain('refused');
  });

  it('two who say different things settle nothing, until one of them agrees', async () => {
    const id = await lostPayment(register, LARGE);
    await looked(register, id);
    await resolve(id, YES);
    expect((await resolve(id, NO, SECOND)).status).toBe(202);
    expect(await statusOf(id)).toBe('UNKNOWN');
    expect((await resolve(id, NO)).body).toMatchObject({ status: 'FAILED' });
  });

  it('two who name different effects settle nothing', async () => {
    const id = await lostPayment(register, LARGE);
    await resolve(id, { ...YES, provider_reference: 'pay_1' });
    const other = await resolve(id, { ...YES, provider_reference: 'pay_2' }, SECOND);
    expect(other.status).toBe(202);
    expect(await statusOf(id)).toBe('UNKNOWN');
  });

  it('a person may correct their own word; what they said before no longer counts', async () => {
    const id = await lostPayment(register, LARGE);
    await looked(register, id);
    await resolve(id, NO);
    expect((await resolve(id, YES)).status).toBe(202);
    expect((await resolve(id, NO, SECOND)).status).toBe(202);
    expect(await statusOf(id)).toBe('UNKNOWN');
  });

  it('the second word meets the same conditions as the first', async () => {
    const id = await lostPayment(register, LARGE);
    await looked(register, id);
    await resolve(id, NO);
    await register.rows(
      `update evidence set at = at - interval '11 minutes' where operation_id = $1`,
      [id],
    );
    expect((await resolve(id, NO, SECOND)).body).toMatchObject({ code: 'lookup_required' });
  });

  it('a first word from before the operation was settled and reopened no longer counts', async () => {
    const id = await lostPayment(register, LARGE);
    await looked(register, id);
    await resolve(id, YES);
    await resolve(id, NO, SECOND);
    expect((await resolve(id, NO)).body).toMatchObject({ status: 'FAILED' });
    await storeAttemptOutcome(register.pool, id, 1, OUTCOMES.succeeded);
    expect(await statusOf(id)).toBe('NEEDS_REVIEW');
    expect((await resolve(id, YES, SECOND)).status).toBe(202);
    expect((await resolve(id, YES)).body).toMatchObject({ status: 'SUCCEEDED' });
  });

  it('two at once, by different people, settle it once', async () => {
    const id = await lostPayment(register, LARGE);
    const answers = await Promise.all([resolve(id, YES), resolve(id, YES, SECOND)]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 202]);
    expect(await statusOf(id)).toBe('SUCCEEDED');
  });
});

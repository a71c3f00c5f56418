import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cancelBeforeIntent } from '../../src/store/cancellations.store.ts';
import { hold, lift } from '../../src/store/holds.store.ts';
import {
  begin,
  claimed,
  openRegister,
  operationIn,
  stored,
  type Register,
} from '../support/register.ts';

let register: Register;
beforeAll(async () => {
  register = await openRegister();
});
beforeEach(() => register.rows('delete from holds'));
afterAll(() => register.close());

const BY = 'acct_a.operator';

describe('a hold', () => {
  it.each([
    ['its connection in its account', 'acct_a', 'sandbox_acct_a'],
    ['everything in its account', 'acct_a', '*'],
    ['its connection in all accounts', '*', 'sandbox_acct_a'],
    ['everything', '*', '*'],
  ])('of %s lets no intent be committed', async (_, accountId, connection) => {
    const { id } = await claimed(register);
    await hold(register.pool, { accountId, connection }, BY);
    expect(await begin(register, id)).toBe('held');
    const file = await stored(register, id);
    expect(file.attempts).toEqual([]);
    expect(file.operation.status).toBe('PENDING');
    await lift(register.pool, { accountId, connection });
    expect(await begin(register, id)).toMatchObject({ operation: { status: 'IN_PROGRESS' } });
  });

  it('of another account or connection holds nothing here', async () => {
    const { id } = await claimed(register);
    await hold(register.pool, { accountId: 'acct_b', connection: '*' }, BY);
    await hold(register.pool, { accountId: 'acct_a', connection: 'other' }, BY);
    expect(await begin(register, id)).toMatchObject({ operation: { status: 'IN_PROGRESS' } });
  });

  it('that is lifted leaves another one that covers the same operation', async () => {
    const { id } = await claimed(register);
    await hold(register.pool, { accountId: 'acct_a', connection: '*' }, BY);
    await hold(register.pool, { accountId: '*', connection: '*' }, BY);
    await lift(register.pool, { accountId: 'acct_a', connection: '*' });
    expect(await begin(register, id)).toBe('held');
  });
});

describe('canceling', () => {
  it.each(['PENDING', 'AWAITING_APPROVAL'] as const)(
    'ends an operation that is %s, frees its business key and tells its run',
    async (state) => {
      const { id } = await operationIn(register, state);
      expect((await cancelBeforeIntent(register.pool, id))?.operation.status).toBe('CANCELED');
      const keys = 'select count(*) from business_keys where operation_id = $1';
      expect(await register.count(keys, [id])).toBe(0);
      const wakes = `select count(*) from outbox_messages where operation_id = $1 and type = 'wake'`;
      expect(await register.count(wakes, [id])).toBe(1);
      expect(
        await register.count(
          `select count(*) from approvals where operation_id = $1 and status = 'pending'`,
          [id],
        ),
      ).toBe(0);
    },
  );

  it.each([
    'IN_PROGRESS',
    'UNKNOWN',
    'RECONCILING',
    'NEEDS_REVIEW',
    'SUCCEEDED',
    'FAILED',
  ] as const)('changes nothing once it is %s', async (state) => {
    const { id, operation } = await operationIn(register, state);
    await cancelBeforeIntent(register.pool, id);
    expect((await stored(register, id)).operation).toEqual(operation);
  });

  it('leaves no intent to be committed for what it ended', async () => {
    const { id } = await claimed(register);
    await cancelBeforeIntent(register.pool, id);
    expect(await begin(register, id)).toBeUndefined();
    expect((await stored(register, id)).attempts).toEqual([]);
  });

  it('and an intent at the same time have one winner', async () => {
    for (let round = 0; round < 20; round++) {
      const { id } = await claimed(register);
      await Promise.all([begin(register, id), cancelBeforeIntent(register.pool, id)]);
      const { operation, attempts } = await stored(register, id);
      expect(['IN_PROGRESS', 'CANCELED']).toContain(operation.status);
      expect(attempts).toHaveLength(operation.status === 'CANCELED' ? 0 : 1);
    }
  });
});

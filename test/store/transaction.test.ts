import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isUnavailable } from '../../src/store/sqlstate.ts';
import { inTransaction } from '../../src/store/transaction.ts';
import { openRegister, type Register } from '../support/register.ts';

let register: Register;
beforeAll(async () => {
  register = await openRegister();
});
afterAll(() => register.close());

const holds = () => register.count('select count(*) from holds');
const HOLD = `insert into holds (account_id, connection, principal_id, held_at)
  values ('acct_a', '*', 'acct_a.operator', holdfast_now())`;

describe('a transaction', () => {
  it('that fails leaves nothing behind', async () => {
    const failing = inTransaction(register.pool, async (db) => {
      await db.query(HOLD);
      throw new Error('for a reason of its own');
    });
    await expect(failing).rejects.toThrow('for a reason of its own');
    expect(await holds()).toBe(0);
  });

  it('that loses its connection between two statements ends as unavailable, and the process lives on', async () => {
    const cut = inTransaction(register.pool, async (db) => {
      const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid');
      await db.query(HOLD);
      const ended = new Promise((resolve) => db.once('end', resolve));
      await register.pool.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
      await ended;
      await db.query('select 1');
    });
    const error: unknown = await cut.catch((reason: unknown) => reason);
    expect(isUnavailable(error)).toBe(true);
    expect(await holds()).toBe(0);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPool, type Pool } from '../../src/store/pool.ts';
import { isUnavailable } from '../../src/store/sqlstate.ts';
import { inTransaction } from '../../src/store/transaction.ts';
import { openRegister, type Register } from '../support/register.ts';

let register: Register;
/** One connection, so that a broken one would be met again. */
let pool: Pool;
beforeAll(async () => {
  register = await openRegister();
  await register.pool.query('create table notes (text text)');
  pool = createPool(register.url, { max: 1, onIdleError: () => {} });
});
afterAll(async () => {
  await pool.end();
  await register.close();
});

const notes = async () => (await register.rows('select text from notes')).map(({ text }) => text);

describe('a transaction', () => {
  it('answers what its work answers, and is seen by others then', async () => {
    const answer = await inTransaction(pool, async (db) => {
      await db.query(`insert into notes values ('kept')`);
      expect(await notes()).toEqual([]);
      return 7;
    });
    expect([answer, await notes()]).toEqual([7, ['kept']]);
  });

  it('leaves nothing behind where its work throws, and throws that', async () => {
    const work = inTransaction(pool, async (db) => {
      await db.query(`insert into notes values ('lost')`);
      throw new RangeError('no');
    });
    await expect(work).rejects.toThrow(RangeError);
    expect(await notes()).toEqual(['kept']);
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  it('whose connection is cut is unavailable, and the next one has another connection', async () => {
    const work = inTransaction(pool, async (db) => {
      const { rows } = await db.query('select pg_backend_pid() as pid');
      await register.pool.query('select pg_terminate_backend($1)', [rows[0].pid]);
      await db.query(`insert into notes values ('lost')`);
    });
    await expect(work).rejects.toSatisfy(isUnavailable);
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    expect(await notes()).toEqual(['kept']);
  });
});

describe('the register', () => {
  it('gives every time as RFC 3339 in UTC with milliseconds', async () => {
    const [row] = await register.rows('select holdfast_now() as now');
    expect(row?.['now']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('has one clock, which can be set ahead', async () => {
    const ahead = async () =>
      register.count('select extract(epoch from holdfast_now() - clock_timestamp())');
    expect(Math.abs(await ahead())).toBeLessThan(1);
    await register.shiftClock(3_600_000);
    expect(Math.abs((await ahead()) - 3_600)).toBeLessThan(1);
    await register.shiftClock(0);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPool, type Pool } from '../../src/store/pool.ts';
import { inTransaction } from '../../src/store/transaction.ts';
import { openRegister, type Register } from '../support/register.ts';

let register: Register;
/** One connection, so that what one use leaves behind is met by the next. */
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

describe('a connection of the pool', () => {
  it('carries nothing of a failed transaction into the next one', async () => {
    const failing = inTransaction(pool, async (db) => {
      await db.query(`insert into notes values ('lost')`);
      throw new RangeError('no');
    });
    await expect(failing).rejects.toThrow(RangeError);
    await inTransaction(pool, (db) => db.query(`insert into notes values ('kept')`));
    expect(await notes()).toEqual(['kept']);
  });

  it('is given back whatever became of its transaction', async () => {
    for (let round = 0; round < 5; round++) {
      const broken = inTransaction(pool, (db) => db.query('select no_such_column'));
      await expect(broken).rejects.toThrow(/no_such_column/);
    }
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });
});

describe('the register', () => {
  it('gives every time as RFC 3339 in UTC with milliseconds', async () => {
    const [row] = await register.rows('select holdfast_now() as now');
    expect(row?.['now']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('has one clock, which only the rig sets ahead', async () => {
    const ahead = async () =>
      register.count('select extract(epoch from holdfast_now() - clock_timestamp())');
    expect(Math.abs(await ahead())).toBeLessThan(1);
    await register.shiftClock(3_600_000);
    expect(Math.abs((await ahead()) - 3_600)).toBeLessThan(1);
    await register.shiftClock(0);
  });
});

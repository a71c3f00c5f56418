// How Postgres reads for the statements of the hot path. A plan is made once per connection, often while the register is empty, and kept:
// one that reads a whole table then gets slower with every operation.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { storeAttemptOutcome } from '../../src/store/attempts.store.ts';
import { policyBackground } from '../../src/store/policy-background.store.ts';
import { createPool, type Pool } from '../../src/store/pool.ts';
import { OUTCOMES } from '../support/operation-file.ts';
import { begin, claimed, openRegister, type Register } from '../support/register.ts';

let register: Register;
/** One connection, so that all is prepared where the plans are asked for. */
let pool: Pool;
beforeAll(async () => {
  register = await openRegister();
  pool = createPool(register.url, { max: 1, onIdleError: () => {} });
  for (let n = 0; n < 8; n++) await carryOut();
});
afterAll(async () => {
  await pool.end();
  await register.close();
});

async function carryOut(): Promise<void> {
  const { id } = await claimed({ ...register, pool });
  await policyBackground(pool, id);
  const begun = await begin({ ...register, pool }, id);
  if (typeof begun !== 'object') throw new Error(String(begun));
  await storeAttemptOutcome(pool, begun, 1, OUTCOMES.succeeded);
}

const HOT = ['files', 'policy_backgrounds', 'begin_plainly', 'end_plainly'];

/** The plan for any parameters. */
async function planOf(name: string): Promise<string> {
  const { rows } = await pool.query<{ types: string[] }>(
    'select parameter_types::text[] as types from pg_prepared_statements where name = $1',
    [name],
  );
  const parameters = rows[0]?.types.map((type) => (type.endsWith('[]') ? `'{}'` : 'null')).join();
  await pool.query('set plan_cache_mode = force_generic_plan');
  const plan = await pool.query(`explain execute ${name}(${parameters})`);
  return plan.rows.map((row) => row['QUERY PLAN']).join('\n');
}

it.each(HOT)('reads by key in "%s", also with a plan from an empty register', async (name) => {
  expect(await planOf(name)).not.toMatch(/Seq Scan on (operations|attempts|approvals)/);
});

it.each(HOT)('plans "%s" once: after the five tries that Postgres makes', async (name) => {
  const plans = 'custom_plans::integer as custom, generic_plans::integer as generic';
  const [row] = (
    await pool.query(`select ${plans} from pg_prepared_statements where name = $1`, [name])
  ).rows;
  expect(row).toMatchObject({ custom: 5, generic: expect.any(Number) });
  expect(row.generic).toBeGreaterThan(0);
});

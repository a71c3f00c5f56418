// How Postgres reads for the statements of the hot path. A plan is made once per connection, mostly while the register is empty, and kept:
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
  const { id } = await claimed({ ...register, pool });
  await policyBackground(pool, id);
  const begun = await begin({ ...register, pool }, id);
  if (typeof begun !== 'object') throw new Error(String(begun));
  await storeAttemptOutcome(pool, begun, 1, OUTCOMES.succeeded);
  await pool.query('set plan_cache_mode = force_generic_plan');
});
afterAll(async () => {
  await pool.end();
  await register.close();
});

/** The plan for any parameters. */
async function planOf(name: string): Promise<string> {
  const { rows } = await pool.query<{ types: string[] }>(
    'select parameter_types::text[] as types from pg_prepared_statements where name = $1',
    [name],
  );
  const parameters = rows[0]?.types.map((type) => (type.endsWith('[]') ? `'{}'` : 'null')).join();
  const plan = await pool.query(`explain execute ${name}(${parameters})`);
  return plan.rows.map((row) => row['QUERY PLAN']).join('\n');
}

it.each(['files', 'policy_backgrounds', 'begin_plainly', 'end_plainly'])(
  'reads by key in "%s", also with a plan from an empty register',
  async (name) => {
    expect(await planOf(name)).not.toMatch(/Seq Scan on (operations|attempts|approvals)/);
  },
);

// A worker that is paused between its intent and its call, and wakes up after another one has taken over, sends nothing. The pause is at
// the one right place because the database holds the commit of the intent: it becomes durable while the worker is stopped.
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshKey, startSystem, type RunningSystem } from '../support/running-system.ts';
import { until } from '../support/until.ts';

/** Any number that nothing else locks. */
const GATE = 4_711;

/** The first intent of an operation passes this gate within its commit. */
const HOLD_FIRST_INTENTS = `
  create function test_hold_intent() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock_shared(${GATE}); return null; end $$;
  create constraint trigger test_hold_intent after insert on attempts deferrable initially deferred
    for each row when (new.number = 1) execute function test_hold_intent()`;

let system: RunningSystem;
let gate: Client;

beforeAll(async () => {
  system = await startSystem();
  await system.pool.query(HOLD_FIRST_INTENTS);
  gate = new Client({ connectionString: system.databaseUrl });
  await gate.connect();
});
afterAll(async () => {
  await gate.end();
  await system.stop();
});

async function outcomeOf(operationId: string, number: number): Promise<string | null | undefined> {
  const { rows } = await system.pool.query<{ outcome: string | null }>(
    'select outcome from attempts where operation_id = $1 and number = $2',
    [operationId, number],
  );
  return rows[0]?.outcome;
}

describe('a worker that is paused between its intent and its call', () => {
  it('and resumed after another one has settled the operation sends nothing', async () => {
    const [paused] = system.workers;
    const key = freshKey();
    await gate.query(`select pg_advisory_lock(${GATE})`);
    const { operation_id: id } = (await system.submit({ key })).body;
    await until('the intent is being committed', async () => {
      const { rows } = await gate.query(
        `select 1 from pg_stat_activity where datname = current_database()
         and wait_event = 'advisory' and query = 'commit'`,
      );
      return rows.length > 0;
    });
    paused?.signal('SIGSTOP');
    await gate.query(`select pg_advisory_unlock(${GATE})`);
    await until('the intent is durable', async () => (await outcomeOf(id, 1)) === null);
    await system.startWorker();
    expect(await system.atRest(id)).toMatchObject({ status: 'SUCCEEDED' });
    expect(await outcomeOf(id, 1)).toBeNull();
    const settled = { effects: 1, writes: 1, tokens: [key], bodies: 1 };
    expect(await system.provider.sawOf(id)).toMatchObject(settled);

    paused?.signal('SIGCONT');
    await until('it says what it did', async () => (await outcomeOf(id, 1)) === 'not_sent');
    expect(await system.provider.sawOf(id)).toMatchObject(settled);
    expect(await system.statusOf(id)).toBe('SUCCEEDED');
    // It goes on working as before.
    expect((await system.submit({ wait: 30 })).body.status).toBe('SUCCEEDED');
  });
});

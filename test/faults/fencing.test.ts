// A worker that is paused between its intent and its call, and wakes up after another one has taken over, sends nothing. The pause is at
// the one right place because the database holds the commit of the intent: it becomes durable while the worker is stopped.
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCuttableProxy, type CuttableProxy } from '../support/cuttable-proxy.ts';
import type { TestProcess } from '../support/processes.ts';
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
let first: TestProcess;
/** Between the first worker and the engine: a stopped process would go on being given tasks. */
let proxy: CuttableProxy;

beforeAll(async () => {
  system = await startSystem({ workers: 0 });
  proxy = await startCuttableProxy(system.temporal.address);
  first = await system.startWorker({ TEMPORAL_ADDRESS: proxy.address });
  await system.pool.query(HOLD_FIRST_INTENTS);
  gate = new Client({ connectionString: system.databaseUrl });
  await gate.connect();
});
afterAll(async () => {
  await gate.end();
  await system.stop();
  proxy.stop();
});

async function outcomeOf(operationId: string, number: number): Promise<string | null | undefined> {
  const { rows } = await system.pool.query<{ outcome: string | null }>(
    'select outcome from attempts where operation_id = $1 and number = $2',
    [operationId, number],
  );
  return rows[0]?.outcome;
}

/** Brings a fresh operation to where its intent is durable and the worker that made it is stopped. */
async function pausedAfterIntent() {
  const key = freshKey();
  await system.planFor(`cus-${key}`, { refusal_delays_ms: [100] });
  await gate.query(`select pg_advisory_lock(${GATE})`);
  const { operation_id: id } = (await system.submit({ key, customer_id: `cus-${key}` })).body;
  await until('the intent is being committed', async () => {
    const { rows } = await gate.query(
      `select 1 from pg_stat_activity where datname = current_database()
       and wait_event = 'advisory' and query like '%insert into attempts%'`,
    );
    return rows.length > 0;
  });
  first.signal('SIGSTOP');
  proxy.cut();
  await gate.query(`select pg_advisory_unlock(${GATE})`);
  await until('the intent is durable', async () => (await outcomeOf(id, 1)) === null);
  return { id, one: { effects: 1, writes: 1, tokens: [key], bodies: 1 } };
}

describe('a worker that is paused between its intent and its call', () => {
  it('for longer than 5 s sends nothing when it wakes up, and then tries anew', async () => {
    const { id, one } = await pausedAfterIntent();
    await until('the intent is stale', async () => {
      const { rows } = await gate.query(
        `select 1 from attempts where operation_id = $1
         and started_at < holdfast_now() - interval '5 seconds'`,
        [id],
      );
      return rows.length > 0;
    });
    first.signal('SIGCONT');
    const { status, attempts } = await system.atRest(id);
    expect(status).toBe('SUCCEEDED');
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['not_sent', 'succeeded']);
    expect(await system.provider.sawOf(id)).toMatchObject({ ...one, lookups: 0 });
  });

  it('until another one has settled the operation sends nothing when it wakes up', async () => {
    const { id, one } = await pausedAfterIntent();
    const other = await system.startWorker();
    const { status, attempts } = await system.atRest(id);
    expect(status).toBe('SUCCEEDED');
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['unknown', 'succeeded']);
    await other.stop();
    first.signal('SIGCONT');
    // By the time that it has done something else, it would have sent.
    const next = (await system.submit({ wait: 30 })).body;
    expect(next.status).toBe('SUCCEEDED');
    expect(next.attempts[0]?.worker).toMatch(new RegExp(`^${first.pid}@`));
    expect(await system.provider.sawOf(id)).toMatchObject(one);
    expect(await system.statusOf(id)).toBe('SUCCEEDED');
  });
});

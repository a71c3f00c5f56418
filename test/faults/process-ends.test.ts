// Ends of processes that lose nothing: the API at any moment, the worker on a deployment's signal.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../src/supervisor/probes.ts';
import { freshKey, startSystem, type RunningSystem } from '../support/running-system.ts';
import { until } from '../support/until.ts';

let system: RunningSystem;

beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system.stop());

const ONE = { effects: 1, writes: 1, bodies: 1, mostInFlight: 1 };

describe('an API that is killed', () => {
  it('right after its 202 has lost nothing: the relay starts what it could not', async () => {
    // It can't reach the engine, so that nothing but the committed message can start the operation.
    const doomed = await system.startApi({ TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` });
    const key = freshKey();
    const { status, body } = await system.submit({ key, api: doomed.url });
    await doomed.kill();
    expect(status).toBe(202);
    // The first sweep would come after 30 s.
    const rest = await system.atRest(body.operation_id, 25_000);
    expect(rest).toMatchObject({ status: 'SUCCEEDED' });
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject({ ...ONE, tokens: [key] });
  });

  it('while its caller is held: the repeat finds the same operation', async () => {
    const doomed = await system.startApi();
    const key = freshKey();
    await system.provider.script(key, { mode: 'delay_then_ok', delay_ms: 1_500 });
    const lost = system.submit({ key, api: doomed.url, wait: 30 }).catch(() => 'no answer');
    const claimed = await until('the key is claimed', () => claimOf(key));
    await doomed.kill();
    expect(await lost).toBe('no answer');
    const { body } = await system.submit({ key, wait: 30 });
    expect(body).toMatchObject({ operation_id: claimed, status: 'SUCCEEDED' });
    expect(await system.provider.sawOf(claimed)).toMatchObject({ ...ONE, tokens: [key] });
  });

  it('within its claim: the repeat claims the key, and there is one operation', async () => {
    const doomed = await system.startApi();
    const key = freshKey();
    const db = await system.pool.connect();
    await db.query('begin');
    await db.query('lock table business_keys in access exclusive mode');
    const lost = system.submit({ key, api: doomed.url }).catch(() => 'no answer');
    await until('the claim waits', async () => {
      const { rows } = await system.pool.query(
        `select 1 from pg_stat_activity where datname = current_database()
         and wait_event_type = 'Lock' and query like '%business_keys%'`,
      );
      return rows.length > 0;
    });
    await doomed.kill();
    await db.query('commit');
    db.release();
    expect(await lost).toBe('no answer');
    const { status, body } = await system.submit({ key, wait: 30 });
    expect({ status, state: body.status }).toEqual({ status: 200, state: 'SUCCEEDED' });
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject({ ...ONE, tokens: [key] });
  });
});

describe('a worker that gets SIGTERM', () => {
  it.each(['local', 'regular'])(
    'finishes a call under way and stores its outcome (%s dispatch)',
    async (dispatch) => {
      const running = system.started('worker').filter((one) => one.isRunning());
      const key = freshKey();
      await system.planFor(`cus-${key}`, { dispatch });
      await system.provider.script(key, { mode: 'delay_then_ok', delay_ms: 1_500 });
      const { body } = await system.submit({ key, customer_id: `cus-${key}` });
      await system.untilWritten(body.operation_id);
      const ends = await Promise.all(running.map((one) => one.stop()));
      expect(new Set(ends)).toEqual(new Set(['exit code 0']));
      // No other worker has run: what stands in the register was written by the one that ended.
      expect(await system.statesOf(body.operation_id)).toEqual([
        'PENDING',
        'IN_PROGRESS',
        'SUCCEEDED',
      ]);
      await system.startWorker();
      expect(await system.untilClosed(system.runOf(key).workflowId)).toBe('COMPLETED');
      // The engine has heard its result too: the call was not reported as one that failed.
      const { events } = await system.runOf(key).fetchHistory();
      const failed = events?.filter((one) => one.activityTaskFailedEventAttributes);
      expect(failed).toEqual([]);
      expect(await system.provider.sawOf(body.operation_id)).toMatchObject({
        ...ONE,
        tokens: [key],
        lookups: 0,
      });
    },
  );

  it('takes no operation any more, and leaves it to the next one', async () => {
    const running = system.started('worker').filter((one) => one.isRunning());
    await Promise.all(running.map((one) => one.stop()));
    const { body } = await system.submit();
    await system.startWorker();
    expect(await system.atRest(body.operation_id)).toMatchObject({ status: 'SUCCEEDED' });
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject(ONE);
  });
});

async function claimOf(key: string): Promise<string | undefined> {
  const { rows } = await system.pool.query<{ operation_id: string }>(
    'select operation_id from operations where idempotency_key = $1',
    [key],
  );
  return rows[0]?.operation_id;
}

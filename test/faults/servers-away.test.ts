// Postgres or Temporal go away at a bad moment and come back: callers are told what to do, no process has to be started again by hand,
// and operations from before, during and after the outage end right, with one effect each.
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  startOwnPostgres,
  startOwnTemporal,
  type Ending,
  type OwnServer,
} from '../support/own-servers.ts';
import { freshKey, startSystem, type RunningSystem } from '../support/running-system.ts';
import { until } from '../support/until.ts';

let postgres: Awaited<ReturnType<typeof startOwnPostgres>>;
let temporal: Awaited<ReturnType<typeof startOwnTemporal>>;
let system: RunningSystem;

beforeAll(async () => {
  [postgres, temporal] = await Promise.all([startOwnPostgres(), startOwnTemporal()]);
  const engine = { address: temporal.address, namespace: 'default' };
  system = await startSystem({ database: postgres.database, temporal: engine });
  await until('everything is there', async () => (await ready()).status === 200);
});
afterAll(async () => {
  await system.stop();
  await temporal.end();
});

const api = () => system.apis[0]?.url ?? '';

async function ready() {
  const answer = await request(`${api()}/readyz`, { reset: true });
  return {
    status: answer.statusCode,
    body: (await answer.body.json()) as { status: string; postgres: boolean; temporal: boolean },
  };
}

/** One that the provider works on, one that reconciliation asks about, and one that is settled. */
async function submitBefore() {
  const [working, unknown, settled] = [freshKey(), freshKey(), freshKey()];
  await system.provider.script(working, { mode: 'delay_then_ok', delay_ms: 1_500 });
  await system.provider.script(unknown, 'commit_then_500');
  await system.provider.lookups(unknown, 'down');
  const done = await system.submit({ key: settled, wait: 30 });
  expect(done.status).toBe(200);
  const asked = await system.submit({ key: unknown });
  await system.untilLookedUp(asked.body.operation_id);
  const held = await system.submit({ key: working });
  await system.untilWritten(held.body.operation_id);
  await system.provider.lookups(unknown, 'up');
  return { settled: { key: settled, text: done.text }, keys: [working, unknown, settled] };
}

async function idOf(key: string): Promise<string> {
  const { rows } = await system.pool.query<{ operation_id: string }>(
    'select operation_id from operations where idempotency_key = $1',
    [key],
  );
  expect(rows).toHaveLength(1);
  return rows[0]?.operation_id ?? '';
}

/** Each key has one operation, which succeeded by one write with one effect; and no process had to be replaced. */
async function expectAllWell(keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    const id = await idOf(key);
    expect(await system.atRest(id)).toMatchObject({ status: 'SUCCEEDED' });
    const one = { effects: 1, writes: 1, tokens: [key], mostInFlight: 1 };
    expect(await system.provider.sawOf(id)).toMatchObject(one);
  }
  expect(await system.openOperations()).toEqual([]);
  expect([...system.apis, ...system.workers].every((one) => one.isRunning())).toBe(true);
  expect(await ready()).toMatchObject({ status: 200, body: { status: 'ok' } });
}

/** Answers as soon as the API reaches what it needs. */
const accepted = (key: string) =>
  until('a submit is accepted', async () => (await system.submit({ key })).status < 300);

async function whileAway(server: OwnServer, ending: Ending, during: () => Promise<void>) {
  await server.goAway(ending);
  await during();
  await server.comeBack();
}

describe.each<Ending>(['stop', 'crash'])('Postgres goes away (%s) and comes back', (ending) => {
  it('submits are 503 until then, and every operation ends right', async () => {
    const before = await submitBefore();
    const [during, after] = [freshKey(), freshKey()];
    await whileAway(postgres, ending, async () => {
      for (const key of [during, before.settled.key]) {
        const refused = await system.submit({ key });
        expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } });
        expect(refused.headers['retry-after']).toMatch(/^[1-9]\d*$/);
      }
      expect(await ready()).toMatchObject({ status: 503, body: { postgres: false } });
    });
    await accepted(during);
    await accepted(after);
    await expectAllWell([...before.keys, during, after]);
  });
});

describe.each<Ending>(['stop', 'crash'])('Temporal goes away (%s) and comes back', (ending) => {
  it('submits are 202 meanwhile, and every operation ends right', async () => {
    const before = await submitBefore();
    const [during, after] = [freshKey(), freshKey()];
    await whileAway(temporal, ending, async () => {
      expect(await system.submit({ key: during })).toMatchObject({
        status: 202,
        body: { status: 'PENDING' },
      });
      const { key, text } = before.settled;
      expect(await system.submit({ key })).toMatchObject({ status: 200, text });
      const degraded = { status: 'degraded', postgres: true, temporal: false };
      expect(await ready()).toMatchObject({ status: 200, body: degraded });
    });
    await accepted(after);
    await expectAllWell([...before.keys, during, after]);
  });
});

describe('both go away', () => {
  it('and come back, Temporal first: every operation ends right', async () => {
    const before = await submitBefore();
    const during = freshKey();
    await whileAway(postgres, 'crash', async () => {
      await whileAway(temporal, 'crash', async () => {
        expect((await system.submit({ key: during })).status).toBe(503);
      });
    });
    await accepted(during);
    await expectAllWell([...before.keys, during]);
  });
});

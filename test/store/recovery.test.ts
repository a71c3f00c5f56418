// Relay and sweep under load and trouble: several of them, messages that can't be delivered, an engine that is away. Each test has a
// database of its own, because a lease takes whatever is due.
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Operation } from '../../src/domain/operation.ts';
import { relayOnce } from '../../src/outbox/relay.ts';
import { sweepOnce } from '../../src/recovery/sweep.ts';
import { outboxLag, sweepLag } from '../../src/store/lag.store.ts';
import { MOST_FAILURES } from '../../src/store/outbox.store.ts';
import { parkedMessages, unparkMessages } from '../../src/store/parked-messages.store.ts';
import { inTransaction } from '../../src/store/transaction.ts';
import { fakeStarter, type FakeStarter } from '../support/fake-starter.ts';
import { claimed, openRegister, type Register } from '../support/register.ts';

let register: Register;
beforeEach(async () => {
  register = await openRegister();
});
afterEach(() => register.close());

const logger = pino({ level: 'silent' });
const INTERVAL_MS = 30_000;
const relay = (starter: FakeStarter) => relayOnce({ pool: register.pool, starter, logger });
const sweep = (starter: FakeStarter) =>
  sweepOnce({ pool: register.pool, starter, logger, intervalMs: INTERVAL_MS });

/** Operations whose messages are due, in the order of their ids. */
async function claimMany(count: number): Promise<string[]> {
  const files = await Promise.all(Array.from({ length: count }, () => claimed(register)));
  return files.map(({ id }) => id).toSorted();
}

const messagesDueNow = () =>
  register.pool.query('update outbox_messages set next_delivery_at = holdfast_now()');

/** Runs rounds until one finds nothing to do. */
async function exhaust(round: () => Promise<number>): Promise<void> {
  while ((await round()) > 0);
}

const failingFor = (ids: readonly string[], error: Error) =>
  fakeStarter(({ operationId }: Operation) => {
    if (ids.includes(operationId)) throw error;
  });

/** As the engine's client reports it. */
const grpcError = (code: number) =>
  new Error('the call failed', { cause: Object.assign(new Error('grpc'), { code }) });

const away = (starter: FakeStarter): FakeStarter => ({ ...starter, answers: async () => false });

describe('two relays over 200 messages', () => {
  it('deliver each, share the work, and leave nothing', async () => {
    const ids = await claimMany(200);
    await messagesDueNow();
    const starters = [fakeStarter(), fakeStarter()];
    await Promise.all(starters.map((starter) => exhaust(() => relay(starter))));
    const started = starters.flatMap((one) => one.started);
    expect(started.toSorted()).toEqual(ids);
    expect(starters.every((one) => one.started.length > 0)).toBe(true);
    expect(await outboxLag(register.pool)).toEqual({ undelivered: 0, oldestAgeMs: 0, parked: 0 });
  });

  it('deliver again what one of them took and did not finish', async () => {
    const ids = await claimMany(20);
    await messagesDueNow();
    const died = fakeStarter(() => new Promise<never>(() => {}));
    void relay(died);
    const leased = 'select count(*) from outbox_messages where deliveries = 1';
    await expect.poll(() => register.count(leased)).toBe(20);
    const other = fakeStarter();
    expect(await relay(other)).toBe(0);
    await register.shiftClock(31_000);
    expect(await relay(other)).toBe(20);
    expect(other.started.toSorted()).toEqual(ids);
  });
});

describe('a message that can not be delivered', () => {
  it.each([
    ['a mistake of our own', new TypeError('no such thing'), 'TypeError: no such thing'],
    [
      'a request that the engine calls invalid',
      grpcError(3),
      'Error: the call failed: Error: grpc',
    ],
  ])('is set aside at once when the reason is %s, and seen', async (_, error, lastError) => {
    const [poison = '', ...others] = await claimMany(5);
    await messagesDueNow();
    const starter = failingFor([poison], error);
    expect(await relay(starter)).toBe(4);
    expect(starter.started.toSorted()).toEqual(others);
    await register.shiftClock(3_600_000);
    expect(await relay(fakeStarter())).toBe(0);
    expect(await outboxLag(register.pool)).toMatchObject({ undelivered: 0, parked: 1 });
    expect(await parkedMessages(register.pool, 10)).toMatchObject([
      { operationId: poison, type: 'start', failures: 1, lastError },
    ]);
  });

  it(`is set aside after ${MOST_FAILURES} failures while the engine answers`, async () => {
    await claimMany(1);
    const starter = fakeStarter(() => {
      throw grpcError(4);
    });
    for (let round = 1; round < MOST_FAILURES; round++) {
      await messagesDueNow();
      await relay(starter);
    }
    expect(await outboxLag(register.pool)).toMatchObject({ undelivered: 1, parked: 0 });
    await messagesDueNow();
    await relay(starter);
    expect(await outboxLag(register.pool)).toMatchObject({ undelivered: 0, parked: 1 });
  });

  it('comes back when a person brings it back, of one operation or all', async () => {
    const ids = await claimMany(3);
    await messagesDueNow();
    await relay(failingFor(ids, new TypeError('no such thing')));
    expect(await unparkMessages(register.pool, ids[0])).toBe(1);
    const starter = fakeStarter();
    expect(await relay(starter)).toBe(1);
    expect(await unparkMessages(register.pool)).toBe(2);
    expect(await relay(starter)).toBe(2);
    expect(starter.started.toSorted()).toEqual(ids);
    expect(await parkedMessages(register.pool, 10)).toEqual([]);
  });

  it('of a type that only a newer version knows is set aside, not taken for delivered', async () => {
    await claimMany(1);
    await register.pool.query(
      `alter table outbox_messages drop constraint outbox_messages_type_check`,
    );
    await register.pool.query(`update outbox_messages set type = 'of tomorrow'`);
    await messagesDueNow();
    expect(await relay(fakeStarter())).toBe(0);
    expect(await parkedMessages(register.pool, 10)).toMatchObject([{ type: 'of tomorrow' }]);
  });
});

describe('an engine that is away', () => {
  it('is no failure of any message, however long it lasts', async () => {
    const ids = await claimMany(30);
    const starter = away(failingFor(ids, grpcError(14)));
    for (let round = 0; round <= MOST_FAILURES; round++) {
      await messagesDueNow();
      expect(await relay(starter)).toBe(0);
    }
    expect(await register.count('select sum(failures) from outbox_messages')).toBe(0);
    expect(await outboxLag(register.pool)).toMatchObject({ undelivered: 30, parked: 0 });
  });

  it('gets everything within two seconds of its return', async () => {
    const ids = await claimMany(20);
    await messagesDueNow();
    await relay(away(failingFor(ids, grpcError(14))));
    await register.shiftClock(2_000);
    const starter = fakeStarter();
    expect(await relay(starter)).toBe(20);
    expect(starter.started.toSorted()).toEqual(ids);
  });

  it('ends a round of the sweep after its first calls', async () => {
    const ids = await claimMany(50);
    await register.shiftClock(31_000);
    let calls = 0;
    const starter = fakeStarter(() => {
      calls += 1;
      throw grpcError(14);
    });
    expect(await sweep(away(starter))).toBe(0);
    expect(calls).toBeLessThanOrEqual(10);
    await register.shiftClock(31_000 + INTERVAL_MS);
    const back = fakeStarter();
    await exhaust(() => sweep(back));
    expect(back.restarted.toSorted()).toEqual(ids);
  });
});

describe('two sweeps over 200 operations', () => {
  it('look at each once, a bounded number together', async () => {
    const ids = await claimMany(200);
    await register.shiftClock(31_000);
    let together = 0;
    let most = 0;
    const starters = [0, 1].map(() =>
      fakeStarter(async () => {
        together += 1;
        most = Math.max(most, together);
        await new Promise(setImmediate);
        together -= 1;
      }),
    );
    await Promise.all(starters.map((starter) => exhaust(() => sweep(starter))));
    const restarted = starters.flatMap((one) => one.restarted);
    expect(restarted.toSorted()).toEqual(ids);
    expect(most).toBeLessThanOrEqual(10);
    expect(await sweepLag(register.pool)).toEqual({ due: 0, oldestDueMs: 0 });
  });

  it('reach everything although some can not be handled and some are locked', async () => {
    const ids = await claimMany(60);
    const broken = ids.slice(0, 20);
    const [locked, ...free] = ids.slice(20);
    await register.shiftClock(31_000);
    const starter = failingFor(broken, grpcError(14));
    await inTransaction(register.pool, async (db) => {
      await db.query('select 1 from operations where operation_id = $1 for update', [locked]);
      await exhaust(() => sweep(starter));
    });
    expect(starter.restarted.toSorted()).toEqual(free);
    expect(await sweepLag(register.pool)).toMatchObject({ due: 1 });
  });

  it('take those that wait longest first', async () => {
    const ids = await claimMany(60);
    const late = ids.slice(30, 40);
    await register.pool.query(
      `update operations set next_sweep_at = next_sweep_at - interval '1 hour' where operation_id = any ($1)`,
      [late],
    );
    await register.shiftClock(31_000);
    const starter = fakeStarter();
    await sweep(starter);
    expect(starter.restarted).toHaveLength(50);
    expect(starter.restarted).toEqual(expect.arrayContaining(late));
  });
});

describe('the lag', () => {
  it('tells how much the engine has not been told, and since when', async () => {
    await claimMany(3);
    await register.shiftClock(60_000);
    const { undelivered, oldestAgeMs, parked } = await outboxLag(register.pool);
    expect({ undelivered, parked }).toEqual({ undelivered: 3, parked: 0 });
    expect(oldestAgeMs).toBeGreaterThanOrEqual(60_000);
    expect(oldestAgeMs).toBeLessThan(90_000);
  });

  it('tells how many operations wait for the sweep, and for how long', async () => {
    await claimMany(3);
    expect(await sweepLag(register.pool)).toEqual({ due: 0, oldestDueMs: 0 });
    await register.shiftClock(60_000);
    const { due, oldestDueMs } = await sweepLag(register.pool);
    expect(due).toBe(3);
    expect(oldestDueMs).toBeGreaterThanOrEqual(30_000 - 15_000);
  });
});

// Each test has a database of its own, because a lease takes whatever is due.
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Operation } from '../../src/domain/operation.ts';
import { relayOnce } from '../../src/outbox/relay.ts';
import { deliveryFailed, leaseMessages, startDelivered } from '../../src/store/outbox.store.ts';
import { inTransaction } from '../../src/store/transaction.ts';
import { fakeStarter } from '../support/fake-starter.ts';
import { claimed, openRegister, type Register } from '../support/register.ts';

let register: Register;
beforeEach(async () => {
  register = await openRegister();
});
afterEach(() => register.close());

const logger = pino({ level: 'silent' });
const idsOf = (messages: readonly { operationId: string }[]) =>
  messages.map(({ operationId }) => operationId).toSorted();

async function claimMany(count: number): Promise<string[]> {
  const files = await Promise.all(Array.from({ length: count }, () => claimed(register)));
  return files.map(({ id }) => id).toSorted();
}

describe('the outbox', () => {
  it('leaves a fresh claim to the API for a moment', async () => {
    const ids = await claimMany(1);
    expect(await leaseMessages(register.pool, 10)).toEqual([]);
    await register.shiftClock(2_000);
    expect(idsOf(await leaseMessages(register.pool, 10))).toEqual(ids);
  });

  it('never leases one message to two relays', async () => {
    const ids = await claimMany(30);
    await register.shiftClock(5_000);
    const leases = await Promise.all(
      Array.from({ length: 6 }, () => leaseMessages(register.pool, 5)),
    );
    expect(leases.every((lease) => lease.length <= 5)).toBe(true);
    const leased = idsOf(leases.flat());
    expect(new Set(leased).size).toBe(leased.length);
    const rest = await leaseMessages(register.pool, 100);
    expect([...leased, ...idsOf(rest)].toSorted()).toEqual(ids);
  });

  it('skips what another relay is just taking, without waiting for it', async () => {
    const [first, second] = await claimMany(2);
    await register.shiftClock(5_000);
    await inTransaction(register.pool, async (db) => {
      await db.query('select 1 from outbox_messages where operation_id = $1 for update', [first]);
      expect(idsOf(await leaseMessages(register.pool, 10))).toEqual([second]);
    });
  });

  it('comes back after a pause that doubles from a second to five minutes with each failure', async () => {
    await claimMany(1);
    const pauses: number[] = [];
    for (let round = 0; round < 12; round++) {
      await register.pool.query('update outbox_messages set next_delivery_at = holdfast_now()');
      const [message] = await leaseMessages(register.pool, 1);
      await deliveryFailed(register.pool, message?.messageId ?? '', 'a test');
      const ms = await register.count(
        'select extract(epoch from next_delivery_at - holdfast_now()) * 1000 from outbox_messages',
      );
      pauses.push(Math.round(ms / 1_000));
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
  });

  it('is not leased again before its lease is over', async () => {
    await claimMany(1);
    await register.shiftClock(5_000);
    expect(await leaseMessages(register.pool, 10)).toHaveLength(1);
    await register.shiftClock(34_000);
    expect(await leaseMessages(register.pool, 10)).toEqual([]);
    await register.shiftClock(36_000);
    expect(await leaseMessages(register.pool, 10)).toMatchObject([{ deliveries: 2 }]);
  });

  it('forgets what was delivered', async () => {
    const [id] = await claimMany(1);
    await startDelivered(register.pool, id ?? '');
    await register.shiftClock(5_000);
    expect(await leaseMessages(register.pool, 10)).toEqual([]);
  });
});

describe('the relay', () => {
  it('tells the engine of every claim once and forgets the messages', async () => {
    const ids = await claimMany(3);
    await register.shiftClock(5_000);
    const starter = fakeStarter();
    expect(await relayOnce({ pool: register.pool, starter, logger })).toBe(3);
    expect(starter.started.toSorted()).toEqual(ids);
    expect(await register.count('select count(*) from outbox_messages')).toBe(0);
    expect(await relayOnce({ pool: register.pool, starter, logger })).toBe(0);
  });

  it('keeps what the engine did not take, with the reason, and delivers the others', async () => {
    const [first = '', second = ''] = await claimMany(2);
    await register.shiftClock(5_000);
    const starter = fakeStarter((operation: Operation) => {
      if (operation.operationId === first) throw new Error('away');
    });
    expect(await relayOnce({ pool: register.pool, starter, logger })).toBe(1);
    expect(starter.started).toEqual([second]);
    expect(
      await register.rows('select operation_id, last_error, deliveries from outbox_messages'),
    ).toEqual([{ operation_id: first, last_error: 'Error: away', deliveries: 1 }]);
  });
});

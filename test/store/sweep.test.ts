// Each test has a database of its own, because a lease takes whatever is due.
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OPERATION_STATES, type OperationState } from '../../src/domain/operation-state.ts';
import { sweepOnce } from '../../src/recovery/sweep.ts';
import { leaseForSweep } from '../../src/store/sweep.store.ts';
import { inTransaction } from '../../src/store/transaction.ts';
import { fakeStarter } from '../support/fake-starter.ts';
import { OUTCOMES } from '../support/operation-file.ts';
import {
  attempted,
  begin,
  claimed,
  openRegister,
  operationIn,
  stored,
  type Register,
} from '../support/register.ts';

let register: Register;
beforeEach(async () => {
  register = await openRegister();
});
afterEach(() => register.close());

const INTERVAL_MS = 30_000;
const logger = pino({ level: 'silent' });
const lease = (limit = 100) => leaseForSweep(register.pool, limit, INTERVAL_MS);
const sweep = (starter: ReturnType<typeof fakeStarter>) =>
  sweepOnce({ pool: register.pool, starter, intervalMs: INTERVAL_MS, logger });

describe('the lease of a sweep', () => {
  it('takes what is unsettled and not with a person', async () => {
    const ids = new Map<string, OperationState>();
    for (const state of OPERATION_STATES) {
      ids.set((await operationIn(register, state, { approvalTtlMs: 600_000 })).id, state);
    }
    await register.shiftClock(31_000);
    const leased = (await lease()).map((id) => ids.get(id) ?? '');
    expect(leased.toSorted()).toEqual(
      ['PENDING', 'AWAITING_APPROVAL', 'IN_PROGRESS', 'UNKNOWN', 'RECONCILING'].toSorted(),
    );
  });

  it('leaves a fresh claim alone for half a minute', async () => {
    const { id } = await claimed(register);
    expect(await lease()).toEqual([]);
    await register.shiftClock(30_000);
    expect(await lease()).toEqual([id]);
  });

  it('is given to one sweeper at a time, and again after the interval', async () => {
    await Promise.all(Array.from({ length: 20 }, () => claimed(register)));
    await register.shiftClock(31_000);
    const leases = await Promise.all([lease(7), lease(7), lease(7), lease(7)]);
    const all = leases.flat();
    expect(new Set(all).size).toBe(all.length);
    all.push(...(await lease()));
    expect(new Set(all).size).toBe(20);
    expect(await lease()).toEqual([]);
    await register.shiftClock(31_000 + INTERVAL_MS);
    expect(await lease()).toHaveLength(20);
  });

  it('does not wait for an operation that is just being changed', async () => {
    const [{ id: busy }, { id: free }] = [await claimed(register), await claimed(register)];
    await register.shiftClock(31_000);
    await inTransaction(register.pool, async (db) => {
      await db.query('select 1 from operations where operation_id = $1 for update', [busy]);
      expect(await lease()).toEqual([free]);
    });
  });

  it('changes nothing that a worker compares', async () => {
    const { id, ...before } = await claimed(register);
    await register.shiftClock(31_000);
    await lease();
    expect(await stored(register, id)).toEqual(before);
  });
});

describe('a sweep', () => {
  const { unknown, not_sent, pending } = OUTCOMES;

  it('starts again what was never sent or only refused', async () => {
    const { id: fresh } = await claimed(register);
    const { id: refused } = await attempted(register, [not_sent]);
    await register.shiftClock(31_000);
    const starter = fakeStarter();
    expect(await sweep(starter)).toBe(2);
    expect(starter.restarted.toSorted()).toEqual([fresh, refused].toSorted());
    expect(starter.reconciled).toEqual([]);
  });

  it('has asked about what may have acted, where its run is gone', async () => {
    const { id: lost } = await claimed(register);
    await begin(register, lost);
    const ids = [lost];
    for (const outcome of [unknown, pending]) ids.push((await attempted(register, [outcome])).id);
    ids.push((await operationIn(register, 'RECONCILING')).id);
    await register.shiftClock(31_000);
    const starter = fakeStarter();
    await sweep(starter);
    expect(starter.reconciled.toSorted()).toEqual(ids.toSorted());
    expect(starter.restarted).toEqual([]);
  });

  it('leaves an attempt alone while its run is open: it may be in flight', async () => {
    const { id } = await claimed(register);
    await begin(register, id);
    await register.shiftClock(31_000);
    const starter = fakeStarter();
    starter.running.add(id);
    await sweep(starter);
    expect([starter.restarted, starter.reconciled]).toEqual([[], []]);
  });

  it('ends what nobody approved in time, without the engine', async () => {
    const { id } = await claimed(register, { approvalTtlMs: 31_000 });
    await register.shiftClock(31_000);
    const starter = fakeStarter();
    await sweep(starter);
    expect((await stored(register, id)).operation.status).toBe('EXPIRED');
    expect(starter.restarted).toEqual([]);
  });

  it('goes on past one that fails', async () => {
    const ids = [(await claimed(register)).id, (await claimed(register)).id];
    await register.shiftClock(31_000);
    const starter = fakeStarter(({ operationId }) => {
      if (operationId === ids[0]) throw new Error('away');
    });
    await sweep(starter);
    expect(starter.restarted).toEqual([ids[1]]);
  });
});

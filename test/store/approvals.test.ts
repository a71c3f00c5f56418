import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { OPERATION_STATES } from '../../src/domain/operation-state.ts';
import { expireApprovalIfDue } from '../../src/store/approvals.store.ts';
import {
  auditTypes,
  claimed,
  openRegister,
  operationIn,
  stored,
  traceOf,
  type Register,
} from '../support/register.ts';

let register: Register;
beforeAll(async () => {
  register = await openRegister();
});
afterEach(() => register.shiftClock(0));
afterAll(() => register.close());

const HOUR_MS = 3_600_000;
const expire = (id: string) => expireApprovalIfDue(register.pool, id);

describe('an approval that nobody decides', () => {
  it('is waited for until its time is over, by the database clock', async () => {
    const { id } = await claimed(register, { approvalTtlMs: HOUR_MS });
    const leftMs = (await expire(id)) ?? 0;
    expect(leftMs).toBeGreaterThan(HOUR_MS - 60_000);
    expect(leftMs).toBeLessThanOrEqual(HOUR_MS);
    await register.shiftClock(HOUR_MS - 3_000);
    expect(await expire(id)).toBeGreaterThan(0);
    expect((await stored(register, id)).operation.status).toBe('AWAITING_APPROVAL');
  });

  it('ends the operation as EXPIRED from that moment on', async () => {
    const { id } = await claimed(register, { approvalTtlMs: HOUR_MS });
    await register.shiftClock(HOUR_MS);
    expect(await expire(id)).toBe(0);
    const { operation, approval } = await stored(register, id);
    expect(operation).toMatchObject({ status: 'EXPIRED', error: { code: 'approval_expired' } });
    expect(approval?.status).toBe('expired');
    expect(JSON.parse(operation.responseBody ?? '')).toMatchObject({
      status: 'EXPIRED',
      approval: { status: 'expired' },
    });
    expect((await auditTypes(register, id)).slice(-2)).toEqual([
      'approval_decided',
      'transition AWAITING_APPROVAL>EXPIRED',
    ]);
  });

  it('gives the business key back', async () => {
    const invoice = `inv-${randomUUID()}`;
    const { id } = await claimed(register, { approvalTtlMs: 1_000, invoice });
    await register.shiftClock(1_000);
    await expire(id);
    await expect(claimed(register, { invoice })).resolves.toBeDefined();
  });

  it('expires once, however many come at the same moment', async () => {
    const { id } = await claimed(register, { approvalTtlMs: 1_000 });
    await register.shiftClock(2_000);
    const results = await Promise.all(Array.from({ length: 10 }, () => expire(id)));
    expect(results.filter((one) => one === 0)).toHaveLength(1);
    expect(results.filter((one) => one === undefined)).toHaveLength(9);
    const moves = (await auditTypes(register, id)).filter((one) => one.endsWith('EXPIRED'));
    expect(moves).toHaveLength(1);
  });

  it.each(OPERATION_STATES.filter((state) => state !== 'AWAITING_APPROVAL'))(
    'is none of the concerns of an operation in %s',
    async (state) => {
      const { id } = await operationIn(register, state, { approvalTtlMs: 1_000 });
      const before = await traceOf(register, id);
      await register.shiftClock(HOUR_MS);
      expect(await expire(id)).toBeUndefined();
      expect(await traceOf(register, id)).toEqual(before);
    },
  );

  it('is none where there is no such operation', async () => {
    expect(await expire('op_none')).toBeUndefined();
  });
});

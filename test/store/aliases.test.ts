// Kinds whose second key stands for the operation that has the business key.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claim, type Claim } from '../../src/store/claims.store.ts';
import { findByKey } from '../../src/store/operations.store.ts';
import {
  auditTypes,
  claimOf,
  move,
  openRegister,
  operationIn,
  stored,
  type Register,
} from '../support/register.ts';

let register: Register;
beforeAll(async () => {
  register = await openRegister();
});
afterAll(() => register.close());

const reusing = (invoice: string, key?: string): Claim => ({
  ...claimOf({ invoice, ...(key === undefined ? {} : { key }) }),
  onDuplicate: 'reuse',
});

describe('a key whose business key is taken', () => {
  it('becomes an alias of the first operation, with a fingerprint of its own', async () => {
    const invoice = `inv-${randomUUID()}`;
    const [first, second] = [reusing(invoice), reusing(invoice)];
    const other = { ...second.operation, fingerprint: 'cd'.repeat(32) };
    expect((await claim(register.pool, first)).status).toBe('claimed');
    expect((await claim(register.pool, { ...second, operation: other })).status).toBe('reused');
    const known = await findByKey(register.pool, 'acct_a', other.idempotencyKey);
    expect(known).toMatchObject({ isAlias: true, fingerprint: other.fingerprint });
    expect(known?.operation.operationId).toBe(first.operation.operationId);
    expect(
      await register.count('select count(*) from operations where operation_id = $1', [
        other.operationId,
      ]),
    ).toBe(0);
  });

  it('is known when it comes again, and its claim is in the audit of the operation', async () => {
    const invoice = `inv-${randomUUID()}`;
    const first = reusing(invoice);
    await claim(register.pool, first);
    const key = `key-${randomUUID()}`;
    expect((await claim(register.pool, reusing(invoice, key))).status).toBe('reused');
    expect((await claim(register.pool, reusing(invoice, key))).status).toBe('known');
    expect(await auditTypes(register, first.operation.operationId)).toEqual([
      'requested',
      'claimed',
      'requested',
      'claimed',
    ]);
  });

  it('lets one operation of 20 concurrent keys be made; the others are its aliases', async () => {
    const invoice = `inv-${randomUUID()}`;
    const results = await Promise.all(
      Array.from({ length: 20 }, () => claim(register.pool, reusing(invoice))),
    );
    expect(results.filter(({ status }) => status === 'claimed')).toHaveLength(1);
    expect(results.filter(({ status }) => status === 'reused')).toHaveLength(19);
  });

  it('makes an operation of its own once the first certainly did not happen', async () => {
    const { operation, id } = await operationIn(register, 'IN_PROGRESS');
    const invoice = (operation.command as { invoice_id: string }).invoice_id;
    await move(register, id, { to: 'FAILED' });
    expect((await claim(register.pool, reusing(invoice))).status).toBe('claimed');
  });
});

describe('an operation that is reopened', () => {
  it('takes its business key back', async () => {
    const { operation, id } = await operationIn(register, 'FAILED');
    const invoice = (operation.command as { invoice_id: string }).invoice_id;
    await move(register, id, { to: 'NEEDS_REVIEW', reviewReason: 'evidence_contradicts' });
    expect(await claim(register.pool, claimOf({ invoice }))).toEqual({
      status: 'business_duplicate',
      operationId: id,
    });
  });

  it('is marked, and so is the other, where another holds the key by now', async () => {
    const { operation, id } = await operationIn(register, 'FAILED');
    const invoice = (operation.command as { invoice_id: string }).invoice_id;
    const second = claimOf({ invoice });
    await claim(register.pool, second);
    await move(register, id, { to: 'NEEDS_REVIEW', reviewReason: 'evidence_contradicts' });
    const other = second.operation.operationId;
    expect((await stored(register, id)).operation.conflictsWith).toBe(other);
    expect((await stored(register, other)).operation.conflictsWith).toBe(id);
  });
});

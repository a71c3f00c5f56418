// Operations that act on an earlier one: what they hold of it, judged under its lock.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refund } from '../../src/operations/refund/refund.operation.ts';
import { paymentCapture } from '../../src/operations/payment-capture/payment-capture.operation.ts';
import { claim, type Claim, type ClaimResult } from '../../src/store/claims.store.ts';
import type { OperationDefinition } from '../../src/operations/define-operation.ts';
import {
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

/** A claim of a kind that acts on a payment. */
function actingOn(
  definition: OperationDefinition,
  paymentId: string,
  members: object,
  accountId = 'acct_a',
): Claim {
  const base = claimOf({ accountId, invoice: null });
  const command = definition.command.parse({ payment_operation_id: paymentId, ...members });
  const { target } = definition;
  if (!target) throw new Error('acts on nothing');
  return {
    ...base,
    target: {
      operationId: target.operationId(command),
      kind: target.kind,
      admit: (found) => target.admit(found, command),
    },
    operation: {
      ...base.operation,
      kind: definition.kind,
      command,
      businessKey: definition.businessKey(command),
    },
  };
}

const refundOf = (paymentId: string, amount: string, more: object = {}, accountId?: string) =>
  claim(
    register.pool,
    actingOn(refund, paymentId, { amount, currency: 'USD', reason: 'asked', ...more }, accountId),
  );
const captureOf = (paymentId: string, members: object = {}) =>
  claim(register.pool, actingOn(paymentCapture, paymentId, members));

/** A payment of 10.00 USD that has succeeded. */
const paid = async () => (await operationIn(register, 'SUCCEEDED')).id;
const idOf = (result: ClaimResult): string => {
  if (result.status !== 'claimed') throw new Error(result.status);
  return result.operation.operationId;
};

/** A payment of 10.00 USD that only reserves the amount. */
async function reserved(): Promise<string> {
  const id = await paid();
  await register.rows(
    `update operations set command = command || '{"capture":"manual"}' where operation_id = $1`,
    [id],
  );
  return id;
}

describe('refunds of one payment', () => {
  it('never exceed it together, of 20 at once exactly as many pass as fit', async () => {
    const payment = await paid();
    const results = await Promise.all(Array.from({ length: 20 }, () => refundOf(payment, '3.00')));
    expect(results.filter(({ status }) => status === 'claimed')).toHaveLength(3);
    const refused = results.filter(({ status }) => status === 'not_admitted');
    expect(refused).toHaveLength(17);
    expect(refused[0]).toMatchObject({ code: 'not_refundable' });
  });

  it('give back the last cent and not one more', async () => {
    const payment = await paid();
    expect((await refundOf(payment, '9.99')).status).toBe('claimed');
    expect((await refundOf(payment, '0.02')).status).toBe('not_admitted');
    expect((await refundOf(payment, '0.01')).status).toBe('claimed');
    expect((await refundOf(payment, '0.01')).status).toBe('not_admitted');
  });

  it.each(['UNKNOWN', 'NEEDS_REVIEW', 'IN_PROGRESS'] as const)(
    'keep their amount while they are %s',
    async (state) => {
      const payment = await paid();
      const id = idOf(await refundOf(payment, '6.00'));
      await move(register, id, { to: 'IN_PROGRESS' });
      if (state !== 'IN_PROGRESS') {
        await move(register, id, {
          to: state,
          ...(state === 'NEEDS_REVIEW' && { reviewReason: 'reconcile_deadline' as const }),
        });
      }
      expect((await refundOf(payment, '6.00')).status).toBe('not_admitted');
    },
  );

  it('give their amount back when they certainly did not happen, and take it again when reopened', async () => {
    const payment = await paid();
    const id = idOf(await refundOf(payment, '10.00'));
    await move(register, id, { to: 'IN_PROGRESS' });
    await move(register, id, { to: 'FAILED' });
    expect((await refundOf(payment, '4.00')).status).toBe('claimed');
    await move(register, id, { to: 'NEEDS_REVIEW', reviewReason: 'evidence_contradicts' });
    expect(
      await register.count(
        'select sum(amount_minor) from target_claims where target_operation_id = $1',
        [payment],
      ),
    ).toBe(1_400);
  });

  it.each(['PENDING', 'UNKNOWN', 'FAILED'] as const)(
    'are refused while the payment is %s',
    async (state) => {
      const { id } = await operationIn(register, state);
      expect(await refundOf(id, '1.00')).toMatchObject({ code: 'not_refundable' });
    },
  );

  it('are refused in another currency, of another account, and of what never was', async () => {
    const payment = await paid();
    expect(await refundOf(payment, '1.00', { currency: 'EUR' })).toMatchObject({
      code: 'not_refundable',
    });
    const foreign = await refundOf(payment, '1.00', {}, 'acct_b');
    const unknown = await refundOf(`op_${randomUUID()}`, '1.00');
    expect(foreign).toEqual(unknown);
    expect(foreign).toMatchObject({ status: 'not_admitted', code: 'not_found' });
  });

  it('leave no trace when refused, so that their key stays free', async () => {
    const payment = await paid();
    const wanted = actingOn(refund, payment, { amount: '11.00', currency: 'USD', reason: 'x' });
    expect((await claim(register.pool, wanted)).status).toBe('not_admitted');
    const { accountId, idempotencyKey } = wanted.operation;
    expect(
      await register.count(
        'select count(*) from idempotency_keys where account_id = $1 and idempotency_key = $2',
        [accountId, idempotencyKey],
      ),
    ).toBe(0);
  });

  it('are refused where nobody knows what the provider calls the payment', async () => {
    const payment = await paid();
    await register.rows('update operations set provider_reference = null where operation_id = $1', [
      payment,
    ]);
    expect(await refundOf(payment, '1.00')).toMatchObject({ code: 'not_refundable' });
  });

  it('freeze what the provider calls the payment', async () => {
    const payment = await paid();
    const { operation } = await stored(register, idOf(await refundOf(payment, '2.50')));
    expect(operation.plan.target).toEqual({
      operation_id: payment,
      provider_reference: 'pay_1',
      amount_minor: '250',
      currency: 'USD',
    });
  });
});

describe('a capture', () => {
  it('takes the whole reserved amount where none is named, and happens once', async () => {
    const payment = await reserved();
    const { operation } = await stored(register, idOf(await captureOf(payment)));
    expect(operation.plan.target?.amount_minor).toBe('1000');
    expect((await captureOf(payment)).status).toBe('business_duplicate');
  });

  it('may take less and never more', async () => {
    const payment = await reserved();
    expect(await captureOf(payment, { amount: '10.01' })).toMatchObject({
      code: 'precondition_failed',
    });
    expect(await captureOf(payment, { amount: '1.001' })).toMatchObject({
      code: 'invalid_command',
    });
    expect((await captureOf(payment, { amount: '4.00' })).status).toBe('claimed');
  });

  it('is refused for a payment that captures by itself', async () => {
    expect(await captureOf(await paid())).toMatchObject({ code: 'precondition_failed' });
  });

  it('bounds the refunds of its payment once it has succeeded', async () => {
    const payment = await reserved();
    expect(await refundOf(payment, '1.00')).toMatchObject({ code: 'not_refundable' });
    const id = idOf(await captureOf(payment, { amount: '4.00' }));
    await move(register, id, { to: 'IN_PROGRESS' });
    await move(register, id, { to: 'SUCCEEDED', result: {}, providerReference: 'cap_1' });
    expect((await refundOf(payment, '4.01')).status).toBe('not_admitted');
    expect((await refundOf(payment, '4.00')).status).toBe('claimed');
  });
});

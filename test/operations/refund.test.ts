import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { refund } from '../../src/operations/refund/refund.operation.ts';
import { sandboxProvider } from '../../src/providers/sandbox/sandbox.provider.ts';
import { identifiers, PAID_TARGET, texts } from '../support/bodies.ts';
import { commandOf, describeConformance, faultsOf } from '../support/operation-conformance.ts';
import { shippedVerdict } from '../support/policy.ts';

const MINIMAL = {
  payment_operation_id: 'op_1',
  amount: '2.50',
  currency: 'USD',
  reason: 'requested_by_customer',
};

describeConformance({
  definition: refund,
  minimal: MINIMAL,
  complete: { ...MINIMAL, intended_repeat_of: 'op_2' },
  bodies: fc.record({
    payment_operation_id: identifiers,
    amount: fc.constantFrom('1', '1.5', '2.50'),
    currency: fc.constantFrom('USD', 'eur'),
    reason: texts,
  }),
  spellings: [[MINIMAL, { ...MINIMAL, amount: '2.5', currency: 'usd' }]],
  adapters: [sandboxProvider],
  target: PAID_TARGET,
});

it('a refund without an amount is refused, because "all of it" means another sum each time', () => {
  const { amount: _, ...rest } = MINIMAL;
  expect(faultsOf(refund, rest)).toEqual(['/amount']);
});

it('two equal refunds are two: the second is asked for under a key of its own', () => {
  expect(refund.businessKey(commandOf(refund, MINIMAL))).toBeNull();
});

it('a refund waits for a person from half of what holds a payment', () => {
  const verdict = (amount: string) =>
    shippedVerdict(refund, commandOf(refund, { ...MINIMAL, amount }));
  expect(verdict('499.99')).toBe('allow');
  expect(verdict('500.00')).toBe('require_approval');
});

it('a refund names the payment by the provider id that was frozen at the claim', () => {
  const body = sandboxProvider.requestFor('refund', commandOf(refund, MINIMAL), PAID_TARGET);
  expect(JSON.parse(body)).toEqual({
    payment: 'pay_1',
    amount: '250',
    currency: 'USD',
    reason: 'requested_by_customer',
  });
});

it('a refund goes to who paid', () => {
  const payment = { customer_id: 'cus_9' };
  expect(refund.facts(commandOf(refund, MINIMAL), payment).destination).toBe('cus_9');
  expect(refund.facts(commandOf(refund, MINIMAL), null).destination).toBeUndefined();
});

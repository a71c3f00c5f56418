import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { paymentCapture } from '../../src/operations/payment-capture/payment-capture.operation.ts';
import { sandboxProvider } from '../../src/providers/sandbox/sandbox.provider.ts';
import { identifiers, PAID_TARGET } from '../support/bodies.ts';
import { commandOf, describeConformance } from '../support/operation-conformance.ts';

const MINIMAL = { payment_operation_id: 'op_1' };

describeConformance({
  definition: paymentCapture,
  minimal: MINIMAL,
  complete: { ...MINIMAL, amount: '4.00', intended_repeat_of: 'op_2' },
  bodies: fc.record(
    { payment_operation_id: identifiers, amount: fc.constantFrom('1', '4.00') },
    { requiredKeys: ['payment_operation_id'] },
  ),
  spellings: [[MINIMAL, { payment_operation_id: ' op_1 ' }]],
  adapters: [sandboxProvider],
  target: PAID_TARGET,
});

it('a payment is captured once: the payment is the business key', () => {
  const keys = [MINIMAL, { ...MINIMAL, amount: '4.00' }].map((body) =>
    paymentCapture.businessKey(commandOf(paymentCapture, body)),
  );
  expect(keys).toEqual(['["op_1"]', '["op_1"]']);
});

it('a capture sends the amount that the plan froze, not the one in the command', () => {
  const command = commandOf(paymentCapture, { ...MINIMAL, amount: '4' });
  const target = { ...PAID_TARGET, amount_minor: '400' };
  const body = sandboxProvider.requestFor('payment_capture', command, target);
  expect(JSON.parse(body)).toEqual({ payment: 'pay_1', amount: '400', currency: 'USD' });
});

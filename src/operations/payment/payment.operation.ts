// Kind `payment`: take an amount from a customer for one invoice.
import { z } from 'zod';
import { defineOperation } from '../define-operation.ts';
import {
  amount,
  canonicalMoney,
  currency,
  freeText,
  identifier,
  moneyOf,
  withoutAbsent,
} from '../members.ts';

export const payment = defineOperation({
  kind: 'payment',
  version: 1,
  summary: 'Takes an amount from a customer for one invoice.',
  input: {
    amount,
    currency,
    customer_id: identifier,
    invoice_id: identifier,
    capture: z.enum(['automatic', 'manual']).default('automatic'),
    memo: freeText.optional(),
  },
  example: { amount: '250.00', currency: 'USD', customer_id: 'cus_1', invoice_id: 'inv_1' },
  canonicalise: (input, context) => withoutAbsent(canonicalMoney(input, context)),
  // One invoice is paid once, however many agents plan it anew.
  businessKey: (command) => [command.invoice_id],
  onDuplicate: 'refuse',
  card: (command) => ({
    title: `Take ${command.amount} ${command.currency} from customer ${command.customer_id} for invoice ${command.invoice_id}.`,
    consequence:
      command.capture === 'manual'
        ? 'The amount is reserved at the customer and taken by a later capture.'
        : 'The customer is charged at once.',
    reversibility:
      'Refunds can give it back, in part or whole. The customer sees both, and fees of the provider may stay.',
    target: `customer ${command.customer_id}`,
    money: moneyOf(command),
  }),
  personal: ['customer_id', 'memo'],
  facts: (command) => ({ money: moneyOf(command), destination: command.customer_id }),
});

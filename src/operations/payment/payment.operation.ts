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
  personal: ['customer_id', 'memo'],
  facts: (command) => ({ money: moneyOf(command), destination: command.customer_id }),
});

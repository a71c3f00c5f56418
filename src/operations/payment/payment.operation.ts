// Kind `payment`: take an amount from a customer for one invoice.
import { z } from 'zod';
import { formatAmount, parseMoney } from '../../domain/money.ts';
import { paymentPolicy } from '../../domain/policy.ts';
import { defineOperation } from '../define-operation.ts';
import { amount, freeText, identifier } from '../members.ts';

type PaymentCommand = {
  readonly amount: string;
  readonly currency: string;
  readonly customer_id: string;
  readonly invoice_id: string;
  readonly capture: 'automatic' | 'manual';
  readonly memo?: string;
};

function moneyOf(command: Pick<PaymentCommand, 'amount' | 'currency'>) {
  return parseMoney(command.amount, command.currency);
}

export const payment = defineOperation({
  kind: 'payment',
  version: 1,
  input: {
    amount,
    currency: z.string(),
    customer_id: identifier,
    invoice_id: identifier,
    capture: z.enum(['automatic', 'manual']).default('automatic'),
    memo: freeText.optional(),
  },
  canonicalise(input, context): PaymentCommand {
    const parsed = moneyOf(input);
    if (!parsed.ok) {
      context.addIssue({
        code: 'custom',
        path: parsed.pointer.slice(1).split('/'),
        message: parsed.detail,
      });
      return z.NEVER;
    }
    const { money } = parsed;
    const { memo, ...rest } = input;
    return {
      ...rest,
      amount: formatAmount(money.minor, money.digits),
      currency: money.currency,
      ...(memo === undefined ? {} : { memo }),
    };
  },
  // One invoice is paid once, however many agents plan it anew.
  businessKey: (command) => command.invoice_id,
  policy(command) {
    const parsed = moneyOf(command);
    if (!parsed.ok) throw new Error(`a validated payment: ${parsed.detail}`);
    return paymentPolicy(parsed.money);
  },
});

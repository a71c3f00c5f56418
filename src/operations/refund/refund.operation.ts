// Kind `refund`: give back part or all of a payment. Several refunds may act on one payment; together they never exceed it.
import { formatAmount } from '../../domain/money.ts';
import { heldBy, type Admission, type Target } from '../../domain/target.ts';
import { defineOperation } from '../define-operation.ts';
import { amount, canonicalMoney, currency, freeText, identifier, moneyOf } from '../members.ts';
import { capturedMinor, payerOf, paymentMoney } from '../paid-amount.ts';

export const refund = defineOperation({
  kind: 'refund',
  version: 1,
  summary: 'Gives back an amount of an earlier payment.',
  input: { payment_operation_id: identifier, amount, currency, reason: freeText },
  example: {
    payment_operation_id: 'op_0b7e3f2a-6c1d-4a5e-9f80-1234567890ab',
    amount: '25.00',
    currency: 'USD',
    reason: 'One item was returned.',
  },
  canonicalise: (input, context) => canonicalMoney(input, context),
  businessKey: () => null,
  onDuplicate: 'refuse',
  personal: ['reason'],
  target: {
    kind: 'payment',
    compensates: true,
    operationId: (command) => command.payment_operation_id,
    admit: (target, command) => admitRefund(target, command),
  },
  card: (command, paid) => ({
    title: `Give ${command.amount} ${command.currency} of payment ${command.payment_operation_id} back.`,
    consequence: 'The money leaves the account and goes to whoever paid.',
    reversibility:
      'Can not be undone: it would take a new payment, which the customer has to make.',
    target: paid
      ? `payment ${paid.operation_id}, at the provider ${paid.provider_reference}`
      : `payment ${command.payment_operation_id}`,
    money: moneyOf(command),
  }),
  facts: (command, payment) => ({ money: moneyOf(command), destination: payerOf(payment) }),
});

/** A person may settle a payment without one; then the provider can't be told what to act on. */
const WITHOUT_REFERENCE = "The provider's reference of this payment is not known.";

/** Succeeded, open and unknown refunds all count: an unknown one may have gone through. */
function admitRefund(
  target: Target,
  command: { readonly amount: string; readonly currency: string },
): Admission {
  const wanted = moneyOf(command);
  const paid = paymentMoney(target);
  if (wanted.currency !== paid.currency) {
    return refuse(`The payment was made in ${paid.currency}.`);
  }
  if (target.operation.providerReference === null) return refuse(WITHOUT_REFERENCE);
  const captured = capturedMinor(target);
  if (captured === 0n) return refuse('Nothing of this payment is known to be captured.');
  const left = captured - heldBy(target.claims, 'refund');
  if (BigInt(wanted.minor) > left) {
    const rest = formatAmount(left.toString(), paid.digits);
    return refuse(`At most ${rest} ${paid.currency} of this payment can still be refunded.`);
  }
  return { admitted: true, amountMinor: wanted.minor, currency: wanted.currency };
}

function refuse(detail: string): Admission {
  return { admitted: false, code: 'not_refundable', detail };
}

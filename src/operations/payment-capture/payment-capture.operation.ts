// Kind `payment_capture`: take the amount that a payment with manual capture has reserved, or a part of it. Once per payment.
import { formatAmount, parseMoney, type Money } from '../../domain/money.ts';
import type { JsonObject } from '../../domain/strict-json.ts';
import { type Admission, type Target } from '../../domain/target.ts';
import { defineOperation } from '../define-operation.ts';
import { amount, identifier, moneyOf, withoutAbsent } from '../members.ts';
import { frozenMoney, isManualCapture, payerOf, paymentMoney } from '../paid-amount.ts';

export const paymentCapture = defineOperation({
  kind: 'payment_capture',
  version: 1,
  summary: 'Captures a payment that was made with manual capture.',
  input: { payment_operation_id: identifier, amount: amount.optional() },
  example: {
    payment_operation_id: 'op_0b7e3f2a-6c1d-4a5e-9f80-1234567890ab',
    amount: '250.00',
  },
  canonicalise: (input) => withoutAbsent(input),
  businessKey: (command) => [command.payment_operation_id],
  onDuplicate: 'refuse',
  personal: [],
  target: {
    kind: 'payment',
    operationId: (command) => command.payment_operation_id,
    admit: (target, command) => admitCapture(target, command.amount),
  },
  card: (command, reserved) => ({
    title: `Take ${command.amount ?? 'all'} of what payment ${command.payment_operation_id} has reserved.`,
    consequence: 'The customer is charged, and what is left of the reservation is released.',
    reversibility: 'Refunds can give it back, in part or whole.',
    target: reserved
      ? `payment ${reserved.operation_id}, at the provider ${reserved.provider_reference}`
      : `payment ${command.payment_operation_id}`,
    ...(reserved ? { money: frozenMoney(reserved) } : {}),
  }),
  facts: (command, payment) => ({
    money: moneyToCapture(command.amount, payment),
    destination: payerOf(payment),
  }),
});

/** Without an amount all of the payment is captured. Read in the payment's currency, which the command doesn't repeat. */
function admitCapture(target: Target, wanted: string | undefined): Admission {
  const paid = paymentMoney(target);
  const { status, providerReference } = target.operation;
  if (status !== 'SUCCEEDED' || providerReference === null || !isManualCapture(target)) {
    return refuse('precondition_failed', 'Only a payment that waits for its capture is captured.');
  }
  const money = wanted === undefined ? paid : readIn(paid, wanted);
  if (typeof money === 'string') return refuse('invalid_command', `/amount: ${money}`);
  if (BigInt(money.minor) > BigInt(paid.minor)) {
    const most = formatAmount(paid.minor, paid.digits);
    return refuse('precondition_failed', `At most ${most} ${paid.currency} can be captured.`);
  }
  return { admitted: true, amountMinor: money.minor, currency: paid.currency };
}

/** Undefined where there is no such amount of the payment: then the target's rule has refused it. */
function moneyToCapture(wanted: string | undefined, payment: JsonObject | null) {
  if (!payment) return undefined;
  const paid = moneyOf(payment as { amount: string; currency: string });
  const money = wanted === undefined ? paid : readIn(paid, wanted);
  return typeof money === 'string' ? undefined : money;
}

function readIn(paid: Money, text: string): Money | string {
  const parsed = parseMoney(text, paid.currency);
  return parsed.ok ? parsed.money : parsed.detail;
}

function refuse(code: 'precondition_failed' | 'invalid_command', detail: string): Admission {
  return { admitted: false, code, detail };
}

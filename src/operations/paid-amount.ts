// What a payment has brought in, for kinds that act on it.
import { MINOR_UNIT_DIGITS } from '../domain/currencies.ts';
import type { FrozenTarget } from '../domain/execution-plan.ts';
import type { Money } from '../domain/money.ts';
import type { JsonObject } from '../domain/strict-json.ts';
import type { Target } from '../domain/target.ts';
import { moneyOf } from './members.ts';

interface PaymentCommand {
  readonly amount: string;
  readonly currency: string;
  readonly capture: string;
}

/** The money of the payment as it was claimed. */
export function paymentMoney({ operation }: Target): Money {
  return moneyOf(operation.command as unknown as PaymentCommand);
}

/** True where the payment only reserves the amount until it is captured. */
export function isManualCapture({ operation }: Target): boolean {
  return (operation.command as unknown as PaymentCommand).capture === 'manual';
}

/** Captured amount in minor units; 0 where nothing is known to be captured. */
export function capturedMinor(target: Target): bigint {
  if (target.operation.status !== 'SUCCEEDED') return 0n;
  if (!isManualCapture(target)) return BigInt(paymentMoney(target).minor);
  return target.claims
    .filter(({ kind, status }) => kind === 'payment_capture' && status === 'SUCCEEDED')
    .reduce((sum, { amountMinor }) => sum + BigInt(amountMinor), 0n);
}

/** Who made the payment, from its command; undefined where that isn't known (any more). */
export function payerOf(payment: JsonObject | null): string | undefined {
  const payer = payment?.['customer_id'];
  return typeof payer === 'string' ? payer : undefined;
}

/** What an operation takes of its target, as frozen at the claim. */
export function frozenMoney({ currency, amount_minor: minor }: FrozenTarget): Money {
  return { currency, minor, digits: MINOR_UNIT_DIGITS.get(currency) ?? 0 };
}

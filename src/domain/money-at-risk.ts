// What an operation may have moved: shown to the people who decide about it.
import { MINOR_UNIT_DIGITS } from './currencies.ts';
import { formatAmount, parseMoney } from './money.ts';
import type { Operation } from './operation.ts';

/** Money as on the wire. */
export interface AmountAtRisk {
  readonly amount: string;
  readonly currency: string;
}

/** The frozen amount of its target or the one of its command; null for operations that move no money. */
export function moneyAtRisk({
  plan,
  command,
}: Pick<Operation, 'plan' | 'command'>): AmountAtRisk | null {
  if (plan.target) return amountOfMinor(plan.target.amount_minor, plan.target.currency);
  const { amount, currency } = command;
  if (typeof amount !== 'string' || typeof currency !== 'string') return null;
  const parsed = parseMoney(amount, currency);
  return parsed.ok ? amountOfMinor(parsed.money.minor, parsed.money.currency) : null;
}

/** Minor units as a decimal of their currency; null where there is no such currency. */
export function amountOfMinor(minor: string, currency: string): AmountAtRisk | null {
  const digits = MINOR_UNIT_DIGITS.get(currency);
  return digits === undefined ? null : { amount: formatAmount(minor, digits), currency };
}

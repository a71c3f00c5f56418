// What may run at once and what a person decides first. These are the built-in rules; a policy file comes with approvals.
import type { Money } from './money.ts';

export type PolicyDecision =
  | { readonly verdict: 'allow'; readonly reason: string }
  | { readonly verdict: 'require_approval'; readonly reason: string };

/** From these amounts on (minor units) a payment waits for a person: about what one salary slip or one laptop costs. */
const PAYMENT_THRESHOLDS_MINOR: Readonly<Record<string, bigint>> = {
  USD: 100_000n,
  EUR: 100_000n,
  GBP: 100_000n,
  CHF: 100_000n,
  CAD: 100_000n,
  AUD: 100_000n,
  JPY: 150_000n,
};

/** Holds large payments, and every payment in a currency whose threshold nobody chose. */
export function paymentPolicy(money: Money): PolicyDecision {
  return thresholdPolicy(money, 1n);
}

/** Money that leaves is held from half of what holds money that comes in. */
export function refundPolicy(money: Money): PolicyDecision {
  return thresholdPolicy(money, 2n);
}

function thresholdPolicy(money: Money, divisor: bigint): PolicyDecision {
  const threshold = PAYMENT_THRESHOLDS_MINOR[money.currency];
  if (threshold === undefined) {
    return { verdict: 'require_approval', reason: `no threshold is set for ${money.currency}` };
  }
  return BigInt(money.minor) * divisor >= threshold
    ? { verdict: 'require_approval', reason: 'the amount reaches the approval threshold' }
    : { verdict: 'allow', reason: 'the amount is below the approval threshold' };
}

// An operation that acts on an earlier one (a refund on its payment): what is known of the target, under its lock, when the rule of
// the kind is asked, and what is frozen for the plan when it agrees.
import type { ProblemCode } from './error-catalogue.ts';
import type { Operation } from './operation.ts';
import type { OperationState } from './operation-state.ts';

/** What another operation holds of the same target. Those that certainly did nothing hold nothing and are not here. */
export interface TargetClaim {
  readonly kind: string;
  readonly status: OperationState;
  /** Minor units, digits. */
  readonly amountMinor: string;
}

export interface Target {
  readonly operation: Operation;
  readonly claims: readonly TargetClaim[];
}

export type Admission =
  | { readonly admitted: true; readonly amountMinor: string; readonly currency: string }
  | { readonly admitted: false; readonly code: ProblemCode; readonly detail: string };

/** Sum of what operations of these kinds hold, in minor units. */
export function heldBy(claims: readonly TargetClaim[], kind: string): bigint {
  return claims
    .filter((one) => one.kind === kind)
    .reduce((sum, one) => sum + BigInt(one.amountMinor), 0n);
}

// What is found right before an operation is sent for the first time, and what follows. Nothing that was true when it was claimed or
// approved is taken for true now (contract §7). A refused try and a resend ask none of this again.
import type { ApprovalRecord } from './approval-record.ts';
import { asksForMore, type AgreedTerms } from './policy-decision.ts';
import type { PolicyVerdict } from './policy.ts';
import {
  driftBetween,
  type Drift,
  type PreconditionAnswer,
  type PreconditionValues,
} from './precondition.ts';

/** Asked anew this often, then nobody is asked any more: what changes faster than people decide is not for people to decide. */
export const MOST_TIMES_ASKED_ANEW = 3;

export interface FirstIntentFindings {
  /** What the policy says now of what is about to be sent. What the row says that it said at the claim proves nothing. */
  readonly verdict: PolicyVerdict;
  /** The approval that was given, by its signatures; undefined where none was asked for. */
  readonly approval: (Pick<ApprovalRecord, 'preconditions'> & AgreedTerms) | undefined;
  /** Principals who agreed and have lost the right to since. */
  readonly approversGone: readonly string[];
  /** Undefined for kinds that have none. */
  readonly preconditions: PreconditionAnswer | undefined;
}

/** Why an approval no longer holds, readable; shown on the card of the next one. */
export interface Difference {
  readonly policy?: { readonly version: string; readonly reasons: readonly string[] };
  readonly approvers_gone?: readonly string[];
  readonly preconditions?: readonly Drift[];
}

export type FirstIntentStep =
  | { readonly step: 'send' }
  /** The policy denies it now. */
  | { readonly step: 'reject' }
  /** A precondition doesn't hold, in one sentence. */
  | { readonly step: 'fail'; readonly reason: string }
  /** A person must decide, who sees what has changed. */
  | { readonly step: 'ask'; readonly difference: Difference }
  | { readonly step: 'unreadable' };

/** What follows from the findings. */
export function judgeFirstIntent(findings: FirstIntentFindings): FirstIntentStep {
  const { verdict, preconditions } = findings;
  if (verdict.verdict === 'deny') return { step: 'reject' };
  if (preconditions?.status === 'unavailable') return { step: 'unreadable' };
  const difference = differenceOf(findings);
  if (Object.keys(difference).length > 0) return { step: 'ask', difference };
  return preconditions?.unmet ? { step: 'fail', reason: preconditions.unmet } : { step: 'send' };
}

function differenceOf(findings: FirstIntentFindings): Difference {
  const { verdict, approval, approversGone } = findings;
  const drift = driftSince(findings);
  return {
    ...(asksForMore(verdict, approval)
      ? { policy: { version: verdict.policyVersion, reasons: verdict.reasons } }
      : {}),
    ...(approversGone.length > 0 ? { approvers_gone: approversGone } : {}),
    ...(drift.length > 0 ? { preconditions: drift } : {}),
  };
}

/** Nothing has drifted from what nobody was shown. */
function driftSince({ approval, preconditions }: FirstIntentFindings): Drift[] {
  const shown = approval?.preconditions as PreconditionValues | null | undefined;
  if (!shown || preconditions?.status !== 'read') return [];
  return driftBetween(shown, preconditions.values);
}

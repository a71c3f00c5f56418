// A verdict as it is stored with its operation, and whether a later one asks for more than people have agreed under.
import type { ApprovalRequirement } from './approval-requirement.ts';
import type { ApprovalTerms, PolicyVerdict, Verdict } from './policy.ts';

/** The verdict that an operation was claimed under. Member names are persisted, and shown in previews and evidence. */
export interface PolicyDecision {
  readonly policy_version: string;
  readonly verdict: Verdict;
  readonly rules: readonly string[];
  readonly reasons: readonly string[];
  /** What an approval demands; null where none is asked for. */
  readonly approval: {
    readonly quorum: number;
    readonly ttl_ms: number;
    readonly approvers: ApprovalTerms['approvers'];
    readonly own_requests: boolean;
  } | null;
}

/** The verdict as it is stored. */
export function decisionOf(verdict: PolicyVerdict): PolicyDecision {
  const asked = verdict.verdict === 'require_approval' ? verdict.requirement : null;
  return {
    policy_version: verdict.policyVersion,
    verdict: verdict.verdict,
    rules: verdict.rules,
    reasons: verdict.reasons,
    approval: asked && {
      quorum: asked.quorum,
      ttl_ms: asked.ttlMs,
      approvers: asked.approvers,
      own_requests: asked.ownRequests,
    },
  };
}

/** Under which people were asked; it stands in the approval, and in what each of them signed. */
export type AgreedTerms = Pick<ApprovalRequirement, 'quorum' | 'approvers' | 'ownRequests'>;

/**
 * True where what was agreed to is not enough for this verdict: a denial, a question where nobody was asked, a higher quorum, fewer
 * approvers, or own requests no longer taken. A shorter time is none: an offer stands as long as it was made for.
 */
export function asksForMore(verdict: PolicyVerdict, agreed: AgreedTerms | undefined): boolean {
  if (verdict.verdict !== 'require_approval') return verdict.verdict === 'deny';
  if (!agreed) return true;
  const { quorum, approvers, ownRequests } = verdict.requirement;
  return (
    quorum > agreed.quorum ||
    (agreed.ownRequests && !ownRequests) ||
    isNarrower(approvers, agreed.approvers)
  );
}

function isNarrower(now: ApprovalTerms['approvers'], then: ApprovalTerms['approvers']): boolean {
  if (!now) return false;
  if (!then) return true;
  return (
    then.principals.some((id) => !now.principals.includes(id)) ||
    then.owners.some((owner) => !now.owners.includes(owner))
  );
}

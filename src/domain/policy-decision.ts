// A verdict as it is stored with its operation, and whether a later one is stricter.
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

/**
 * True where what was agreed to under the stored decision may no longer be enough: now denied, approval asked for where it was not, a
 * higher quorum, fewer approvers, or own requests no longer taken. A shorter time is none: an offer stands as long as it was made for.
 */
export function isStricter(now: PolicyVerdict, then: PolicyDecision): boolean {
  if (now.verdict === 'allow') return false;
  if (now.verdict === 'deny') return then.verdict !== 'deny';
  if (then.verdict === 'deny') return false;
  if (!then.approval) return true;
  const { quorum, approvers, ownRequests } = now.requirement;
  return (
    quorum > then.approval.quorum ||
    (then.approval.own_requests && !ownRequests) ||
    isNarrower(approvers, then.approval.approvers)
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

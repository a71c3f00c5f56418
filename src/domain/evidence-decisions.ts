// Decisions in the evidence of an operation: each as the desk signed it, and together as many as the approval says.
import { checkDecision, type DecisionFault, type DecisionVerifier } from './approval-decision.ts';
import { standingOf, type StandingSubject } from './approval-rules.ts';
import type { ApprovalFacts, JudgedRows, OperationFacts, VoteFacts } from './evidence-bundle.ts';

/** Where only terms are compared, because no key is at hand. */
const BELIEVES_ALL: DecisionVerifier = { verify: () => true };

const FAULTS: Readonly<Record<DecisionFault | 'vote_changed', string>> = {
  decision_malformed: 'is none that the desk signs',
  signature_invalid: 'has no valid signature',
  decision_mismatch: 'was signed about something else',
  vote_changed: 'is not the one that was signed',
};

/** `desk`: undefined where its keys are not at hand. `submitters`: owners whose own request it is, as far as they are known. */
export function disagreementsOnDecisions(
  { row, approvals }: JudgedRows,
  desk: DecisionVerifier | undefined,
  submitters: readonly string[] = [],
): string[] {
  const believed = desk ?? BELIEVES_ALL;
  return approvals.flatMap((approval) => [
    ...approval.votes.flatMap((vote) => {
      const fault = faultOf(row, approval, vote, believed);
      const whose = `the decision of ${vote.principal_id} about approval ${approval.approval_id}`;
      return fault ? [`${whose} ${FAULTS[fault]}`] : [];
    }),
    ...unprovedBy(row, approval, believed, submitters),
  ]);
}

/** True where every decision is signed by one of the desk's keys, whatever it is about. */
export function areSigned({ row, approvals }: JudgedRows, desk: DecisionVerifier): boolean {
  return approvals.every((approval) =>
    approval.votes.every(({ signed }) => {
      const checked = checkDecision(signed, subjectOf(row, approval), desk);
      return checked !== 'signature_invalid' && checked !== 'decision_malformed';
    }),
  );
}

function faultOf(
  row: OperationFacts,
  approval: ApprovalFacts,
  { signed, decision, decided_at: at, principal_id: by, owner }: VoteFacts,
  desk: DecisionVerifier,
): keyof typeof FAULTS | undefined {
  const checked = checkDecision(signed, subjectOf(row, approval), desk);
  if (typeof checked === 'string') return checked;
  const { approver } = checked;
  const isSame =
    checked.decision === decision &&
    checked.decided_at === at &&
    approver.principal_id === by &&
    approver.owner === owner;
  return isSame ? undefined : 'vote_changed';
}

/** Judged as of the moment when it was used, or else decided: later its time is over, and it is no less given. */
function unprovedBy(
  row: OperationFacts,
  approval: ApprovalFacts,
  desk: DecisionVerifier,
  submitters: readonly string[],
): string[] {
  const { approval_id: id, status, quorum, votes } = approval;
  const unproved = `approval ${id} is ${status}, and no valid decisions prove it`;
  if (status === 'rejected') {
    const proved = votes.some(
      (vote) => vote.decision === 'rejected' && !faultOf(row, approval, vote, desk),
    );
    return proved ? [] : [unproved];
  }
  const at = approval.consumed_at ?? approval.decided_at;
  const subject = subjectOf(row, approval);
  const isProved = at !== null && standingOf(subject, submitters, at, desk) === 'approved';
  return status !== 'approved' || (isProved && quorum > 0) ? [] : [unproved];
}

function subjectOf(row: OperationFacts, approval: ApprovalFacts): StandingSubject {
  return {
    operation: {
      operationId: row.operation_id,
      accountId: row.account_id,
      idempotencyKey: row.idempotency_key,
      fingerprint: row.fingerprint,
      plan: row.plan,
      connection: row.connection,
      providerToken: row.provider_token,
    },
    approval: {
      approvalId: approval.approval_id,
      status: approval.status,
      expiresAt: approval.expires_at,
      quorum: approval.quorum,
      approvers: approval.approvers,
      ownRequests: approval.own_requests,
      policyVersion: approval.policy_version,
      preconditions: approval.preconditions,
      votes: approval.votes,
    },
  };
}

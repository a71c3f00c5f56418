// Who may decide about an approval, and what the decisions that were given come to.
import { checkDecision, type DecisionSubject, type DecisionVerifier } from './approval-decision.ts';
import type { ApprovalRecord, ApprovalVote } from './approval-record.ts';
import type { ProblemCode } from './error-catalogue.ts';
import type { OperationState } from './operation-state.ts';

/** A person's wish, and what must be known to judge it. */
export interface DecisionFacts {
  readonly approval: ApprovalRecord;
  readonly operationStatus: OperationState;
  readonly wish: {
    readonly decision: 'approved' | 'rejected';
    /** Of the card that the person has read. */
    readonly fingerprint: string;
  };
  readonly by: { readonly principalId: string; readonly owner: string };
  /** Owners of everybody whose key stands for the operation. */
  readonly submitterOwners: readonly string[];
}

export interface DecisionRefusal {
  readonly code: Extract<
    ProblemCode,
    | 'forbidden'
    | 'own_request'
    | 'approval_fingerprint_mismatch'
    | 'approval_expired'
    | 'approval_decided'
    | 'second_person_required'
    | 'wrong_state'
  >;
  readonly detail: string;
}

/** The same person said the same before: nothing is decided anew, and the answer is what was recorded. */
export function isRepeat({ approval, wish, by }: DecisionFacts): boolean {
  const said = approval.votes.find((one) => one.principalId === by.principalId);
  const stands = ['pending', 'approved', 'rejected'].includes(approval.status);
  return stands && said?.decision === wish.decision && wish.fingerprint === approval.fingerprint;
}

/** Who asks comes before what they ask about, and that before what became of it. Time is the caller's to judge, by the database clock. */
export function refusalToDecide(facts: DecisionFacts): DecisionRefusal | undefined {
  const { approval, wish } = facts;
  const ofPerson = refusalOfPerson(facts);
  if (ofPerson) return ofPerson;
  if (wish.fingerprint !== approval.fingerprint) {
    const detail = 'This is not the fingerprint of the request that waits; read its card again.';
    return refusal('approval_fingerprint_mismatch', detail);
  }
  return refusalOfStatus(facts) ?? refusalOfSecondWord(facts);
}

function refusalOfPerson({ approval, by, submitterOwners }: DecisionFacts) {
  const { approvers, ownRequests } = approval;
  if (submitterOwners.includes(by.owner) && !ownRequests) {
    return refusal('own_request', 'Somebody of another owner has to decide about this.');
  }
  const named =
    approvers?.principals.includes(by.principalId) || approvers?.owners.includes(by.owner);
  return approvers === null || named
    ? undefined
    : refusal('forbidden', 'The policy names others to decide about this.');
}

function refusalOfStatus({ approval, operationStatus }: DecisionFacts) {
  const { status } = approval;
  switch (status) {
    case 'pending':
      return operationStatus === 'AWAITING_APPROVAL'
        ? undefined
        : refusal('wrong_state', 'The operation does not wait for a decision any more.');
    case 'approved':
    case 'rejected':
      return refusal('approval_decided', `It was ${status} before.`);
    case 'expired':
      return EXPIRED;
    case 'void':
      return refusal(
        'wrong_state',
        'The request was canceled, or asks anew with another approval.',
      );
  }
}

export const EXPIRED: DecisionRefusal = refusal(
  'approval_expired',
  'Nobody had decided when the time for it was over.',
);

/** An owner has one word. Saying yes again doesn't make two of it; saying no instead of yes stops everything, so it always counts. */
function refusalOfSecondWord({ approval, wish, by }: DecisionFacts): DecisionRefusal | undefined {
  const said = approval.votes.find((one) => one.owner === by.owner);
  return said && wish.decision === 'approved'
    ? refusal('second_person_required', 'Your owner has agreed already; another has to agree too.')
    : undefined;
}

function refusal(code: DecisionRefusal['code'], detail: string): DecisionRefusal {
  return { code, detail };
}

/** `pending`: people are asked. `approved`: enough of them agreed, and it is proved. `unproved`: the row says more than the signatures. */
export type Standing = 'pending' | 'approved' | 'unproved';

/** What stored decisions are judged by. */
export interface StandingSubject extends DecisionSubject {
  readonly approval: DecisionSubject['approval'] &
    Pick<ApprovalRecord, 'status'> & { readonly votes: readonly Pick<ApprovalVote, 'signed'>[] };
}

/**
 * What the stored decisions come to. Only signatures count: each by another owner, about this operation, fingerprint and plan as they
 * stand now, given and used before the time that was signed. `now` is RFC 3339.
 */
export function standingOf(
  subject: StandingSubject,
  submitterOwners: readonly string[],
  now: string,
  desk: DecisionVerifier,
): Standing {
  const { approval } = subject;
  if (approval.status !== 'approved') return 'pending';
  const owners = approval.votes.flatMap(({ signed }) => {
    const decision = checkDecision(signed, subject, desk);
    if (typeof decision === 'string' || decision.decision !== 'approved') return [];
    const isLate = [now, decision.decided_at].some(
      (at) => Date.parse(decision.expires_at) <= Date.parse(at),
    );
    const isOwn = submitterOwners.includes(decision.approver.owner) && !approval.ownRequests;
    return isLate || isOwn ? [] : [decision.approver.owner];
  });
  return new Set(owners).size >= approval.quorum ? 'approved' : 'unproved';
}

// Approvals as the domain sees them, for tests that need no database.
import type { ApprovalRecord, ApprovalVote } from '../../src/domain/approval-record.ts';
import { APPROVAL, operationOf, T0 } from './operation-file.ts';

/** One that is pending and that everybody may decide. */
export function recordOf(members: Partial<ApprovalRecord> = {}): ApprovalRecord {
  const { operationId, fingerprint } = operationOf();
  return {
    ...APPROVAL,
    operationId,
    fingerprint,
    round: 1,
    quorum: 1,
    approvers: null,
    ownRequests: false,
    policyVersion: null,
    preconditions: null,
    preconditionsReadAt: null,
    difference: null,
    createdAt: T0,
    decidedAt: null,
    consumedAt: null,
    votes: [],
    ...members,
  };
}

export function voteOf(principalId: string, members: Partial<ApprovalVote> = {}): ApprovalVote {
  return {
    principalId,
    owner: `owner-of-${principalId}`,
    decision: 'approved',
    decidedAt: T0,
    comment: null,
    signed: {},
    ...members,
  };
}

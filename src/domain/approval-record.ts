// An approval as it is stored, with the word of each who has given one.
import type { ApprovalRequirement } from './approval-requirement.ts';
import type { Approval } from './operation.ts';
import type { JsonValue } from './strict-json.ts';

export interface ApprovalVote {
  /** The human or team behind the principal: each has one word. */
  readonly owner: string;
  readonly principalId: string;
  readonly decision: 'approved' | 'rejected';
  readonly decidedAt: string;
  readonly comment: string | null;
  /** The decision as the desk signed it. Whatever stands here is checked before it is believed. */
  readonly signed: unknown;
}

/** Times are RFC 3339 in UTC with milliseconds. */
export interface ApprovalRecord extends Approval {
  readonly operationId: string;
  readonly fingerprint: string;
  /** 1 at the claim; each approval that replaces one that was overtaken has the next. */
  readonly round: number;
  readonly quorum: ApprovalRequirement['quorum'];
  readonly approvers: ApprovalRequirement['approvers'];
  readonly ownRequests: boolean;
  readonly policyVersion: string | null;
  /** What the provider said of the target when this was asked for. */
  readonly preconditions: JsonValue;
  readonly preconditionsReadAt: string | null;
  /** What has changed since the round before. */
  readonly difference: JsonValue;
  readonly createdAt: string;
  readonly decidedAt: string | null;
  readonly consumedAt: string | null;
  readonly votes: readonly ApprovalVote[];
}

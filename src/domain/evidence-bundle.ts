// The evidence of one operation: what its row says, who agreed to what, and its audit entries with proof that they are in a signed head.
import type { AuditCheckpoint, AuditHead } from './audit-chain.ts';
import type { ApprovalRecord, ApprovalVote } from './approval-record.ts';
import type { ExecutionPlan } from './execution-plan.ts';
import type { JsonValue } from './strict-json.ts';

/** The row, without the command and the stored bytes: of those the digests. */
export interface OperationFacts {
  readonly operation_id: string;
  readonly account_id: string;
  readonly kind: string;
  readonly kind_version: number;
  readonly idempotency_key: string;
  readonly fingerprint: string;
  readonly fingerprint_version: number;
  readonly status: string;
  readonly agent_id: string;
  readonly agent_run: string | null;
  readonly connection: string;
  readonly adapter: string;
  readonly provider_token: string;
  /** Numbers and the frozen target: part of what people agree to, so their signatures can't be checked without it. */
  readonly plan: ExecutionPlan;
  readonly provider_reference: string | null;
  readonly response_status: number | null;
  /** SHA-256 of the stored bytes as they are now; null where there are none. */
  readonly response_sha256: string | null;
  readonly resolved_by: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly settled_at: string | null;
}

/** A person's word, without their comment. */
export interface VoteFacts {
  readonly principal_id: string;
  readonly owner: string;
  readonly decision: ApprovalVote['decision'];
  readonly decided_at: string;
  /** The decision as the desk signed it; believed only by its signature. */
  readonly signed: unknown;
}

/** With further members that nothing is compared with. */
export interface ApprovalFacts {
  readonly approval_id: string;
  readonly status: ApprovalRecord['status'];
  readonly fingerprint: string;
  readonly quorum: number;
  readonly approvers: ApprovalRecord['approvers'];
  readonly own_requests: boolean;
  readonly policy_version: string | null;
  readonly preconditions: JsonValue;
  readonly expires_at: string;
  readonly decided_at: string | null;
  readonly consumed_at: string | null;
  readonly votes: readonly VoteFacts[];
}

/** Shows that entries are in a signed head, by the hashes of all that were sealed with it, and nothing of what those say. */
export interface InclusionProof {
  /** From the entry that the head names as its first up to the one that it is of. */
  readonly hashes: readonly string[];
  readonly head: AuditHead;
}

export interface EvidenceBundle {
  readonly v: 1;
  readonly operation: OperationFacts;
  /** What the policy said at the claim; null where it was not kept. */
  readonly policy_decision: JsonValue;
  /** Each as it was shown, with the signed word of everybody who decided. */
  readonly approvals: readonly ApprovalFacts[];
  readonly attempts: readonly JsonValue[];
  /** What the provider and people said, without words: verdicts, ids, digests. */
  readonly statements: readonly JsonValue[];
  /** The sealed entries of the operation as lines of an export. */
  readonly entries: readonly string[];
  readonly proofs: readonly InclusionProof[];
  /** Events that wait for the sealer; ask again for a bundle that has them. */
  readonly unsealed: number;
  /** Where retention has removed the oldest entries of the account. */
  readonly checkpoint: AuditCheckpoint | null;
  /** What the server found, which sees more than it may tell: the command, and whose request it was. A reader compares anew. */
  readonly consistent: boolean;
  readonly disagreements: readonly string[];
}

/** What is compared with the audit, on the server and by whoever has the bundle. */
export interface JudgedRows {
  readonly row: OperationFacts;
  readonly approvals: readonly ApprovalFacts[];
}

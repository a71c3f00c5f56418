// What must be true of the people who agree, before an operation may be sent. The policy says it at the claim; it stands in the approval.

/** Null members leave a question open to every approver of the account. */
export interface ApprovalRequirement {
  /** Why a person must decide, one sentence a rule, in the words of the policy. */
  readonly reasons: readonly string[];
  /** So many people with different owners must agree. */
  readonly quorum: number;
  /** Only these may decide: principal ids and owners. Null: every principal of the account with the role approver. */
  readonly approvers: {
    readonly principals: readonly string[];
    readonly owners: readonly string[];
  } | null;
  /** How long the offer stands, in milliseconds by the database clock. */
  readonly ttlMs: number;
  /** True where the submitter's own owner may decide, which then stands in the audit (contract §3). */
  readonly ownRequests: boolean;
  /** Hash of the policy that asked. */
  readonly policyVersion: string;
}

// The evidence of one operation: what its row says, who agreed to what, and its audit entries with proof that they are in a signed head.
import type { AuditCheckpoint, AuditHead, AuditMembers } from './audit-chain.ts';
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
  readonly provider_reference: string | null;
  readonly response_status: number | null;
  /** SHA-256 of the stored bytes as they are now; null where there are none. */
  readonly response_sha256: string | null;
  readonly resolved_by: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly settled_at: string | null;
}

/** With further members that nothing is compared with. */
export interface ApprovalFacts {
  readonly approval_id: string;
  readonly status: string;
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
  /** True where row and entries say the same. */
  readonly consistent: boolean;
  readonly disagreements: readonly string[];
}

/** What is compared with the audit. */
interface JudgedRows {
  readonly row: OperationFacts;
  readonly approvals: readonly ApprovalFacts[];
}

/**
 * Where the rows say something else than the events of the operation, as sentences. `events` in the order in which they were written,
 * those that are not sealed yet among them; `whole` is false where the oldest may be gone.
 */
export function disagreementsOf(
  { row, approvals }: JudgedRows,
  events: readonly AuditMembers[],
  whole: boolean,
): string[] {
  const claimed = events.find((one) => one.type === 'claimed' && one.to !== undefined);
  if (!claimed && whole) return ['the audit has no claim of this operation'];
  return [
    ...(claimed ? disagreementsWithClaim(row, claimed) : []),
    ...disagreementsOnState(row, events),
    ...disagreementsOnResult(row, events),
    ...(whole ? approvals.flatMap((approval) => disagreementOnApproval(approval, events)) : []),
  ];
}

/** What people decided has its event; a row that somebody wrote has none. */
function disagreementOnApproval(
  { approval_id: id, status }: ApprovalFacts,
  events: readonly AuditMembers[],
): string[] {
  if (status !== 'approved' && status !== 'rejected') return [];
  const decided = events.some(
    ({ type, detail }) =>
      type === 'approval_decided' &&
      detail?.['approval_id'] === id &&
      detail['decision'] === status,
  );
  return decided ? [] : [`approval ${id} is ${status}, and the audit has no such decision`];
}

function disagreementsWithClaim(row: OperationFacts, claimed: AuditMembers): string[] {
  const pairs: [string, unknown, unknown][] = [
    ['fingerprint', row.fingerprint, claimed.fingerprint],
    ['idempotency key', row.idempotency_key, claimed.key],
    ['agent', row.agent_id, claimed.principal],
    ['agent run', row.agent_run ?? undefined, claimed.agent_run],
  ];
  return pairs.flatMap(([name, ours, theirs]) =>
    ours === theirs ? [] : [`the ${name} of the row is not the one that was claimed`],
  );
}

function disagreementsOnState(row: OperationFacts, events: readonly AuditMembers[]): string[] {
  const problems: string[] = [];
  let state: string | undefined;
  for (const { type, from, to } of events) {
    if (type === 'claimed' && to !== undefined) state = to;
    if (type !== 'transition') continue;
    if (state !== undefined && from !== state) {
      problems.push(`a transition begins in ${from}, and the one before it ended in ${state}`);
    }
    state = to;
  }
  if (state !== undefined && state !== row.status) {
    problems.push(`the row is ${row.status}, and the last transition ended in ${state}`);
  }
  return problems;
}

function disagreementsOnResult(row: OperationFacts, events: readonly AuditMembers[]): string[] {
  const last = events.findLast((one) => one.type === 'transition');
  if (!last) return [];
  const stored = row.response_sha256 === (events.findLast(setsBytes)?.response_hash ?? null);
  const reference = last.provider_reference;
  return [
    ...(stored ? [] : ['the stored bytes are not those that the audit has the digest of']),
    ...(reference === undefined || reference === row.provider_reference
      ? []
      : ['the provider reference is not that of the last transition']),
  ];
}

/** Retention and erasure replace the stored bytes, and their event has the digest of the new ones. */
function setsBytes({ type, detail }: AuditMembers): boolean {
  const step = detail?.['step'];
  return (
    type === 'transition' || (type === 'resolved' && (step === 'erased' || step === 'expired'))
  );
}

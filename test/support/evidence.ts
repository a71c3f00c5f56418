// A good evidence bundle, made without a database: a payment that two people agreed to, in a chain with operations of others.
import { signDecision, type DecisionSigner } from '../../src/domain/approval-decision.ts';
import type { ApprovalRecord } from '../../src/domain/approval-record.ts';
import {
  checkpointText,
  type AuditCheckpoint,
  type AuditEntry,
  type AuditRecord,
} from '../../src/domain/audit-chain.ts';
import type {
  ApprovalFacts,
  EvidenceBundle,
  OperationFacts,
  VoteFacts,
} from '../../src/domain/evidence-bundle.ts';
import type { Operation } from '../../src/domain/operation.ts';
import { sha256Hex } from '../../src/domain/sha256.ts';
import type { SigningKey } from '../../src/signing/keys.ts';
import { recordOf as approvalOf } from './approval-record.ts';
import { chainOf, recordOf, type TestLog } from './audit-log.ts';
import { operationOf, planOf } from './operation-file.ts';

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 2, 3, 4, seconds)).toISOString();

const PEOPLE = ['acct_a.anna', 'acct_a.björn'] as const;
const ownerOf = (principalId: string): string => `team of ${principalId} “é”`;
const VOTED_AT = [at(10), at(11)] as const;
const BEGUN_AT = at(20);
const DONE_AT = at(21);
const BYTES = sha256Hex('the stored bytes');

const OPERATION: Operation = operationOf({
  status: 'SUCCEEDED',
  agentRun: 'run “1”',
  providerReference: 'pay_1',
  plan: planOf({}, true),
});
const APPROVAL: ApprovalRecord = approvalOf({
  quorum: 2,
  status: 'approved',
  approvers: { principals: [...PEOPLE], owners: [] },
  policyVersion: 'cd'.repeat(32),
  preconditions: { 'payment.state': 'captured' },
  expiresAt: at(59),
  decidedAt: VOTED_AT[1],
  consumedAt: BEGUN_AT,
});

/** Says no instead of the second yes where `decision` is `rejected`. */
function votesOf(desk: DecisionSigner, decision: VoteFacts['decision']): VoteFacts[] {
  return PEOPLE.map((principalId, n) => {
    const said = n === 1 ? decision : 'approved';
    const decidedAt = VOTED_AT[n] ?? '';
    const approver = { principalId, owner: ownerOf(principalId) };
    const subject = { operation: OPERATION, approval: APPROVAL };
    const signed = signDecision(desk, subject, { decision: said, approver, decidedAt });
    const { owner } = approver;
    return { principal_id: principalId, owner, decision: said, decided_at: decidedAt, signed };
  });
}

const event = (members: Partial<AuditRecord>): AuditRecord =>
  recordOf(1, {
    operationId: OPERATION.operationId,
    key: OPERATION.idempotencyKey,
    fingerprint: OPERATION.fingerprint,
    agentRun: OPERATION.agentRun,
    principal: OPERATION.agentId,
    from: null,
    to: null,
    detail: null,
    ...members,
  });

function wordOf({ principal_id, decided_at, decision, signed }: VoteFacts, n: number): AuditRecord {
  const { kid, plan_hash } = signed as { kid: string; plan_hash: string };
  const said = { approval_id: APPROVAL.approvalId, decision: n === 0 ? 'vote' : decision };
  return event({
    type: 'approval_decided',
    at: decided_at,
    principal: principal_id,
    agentRun: null,
    detail: { ...said, kid, plan_hash, votes: n + 1, quorum: APPROVAL.quorum },
  });
}

function birth(): AuditRecord[] {
  const detail = { approval_id: APPROVAL.approvalId };
  return [
    event({ type: 'requested' }),
    event({ type: 'claimed', to: 'AWAITING_APPROVAL', detail: { policy: {} } }),
    event({ type: 'approval_requested', detail }),
  ];
}

function sending(): AuditRecord[] {
  const detail = { attempt: 1, purpose: 'dispatch' };
  const moved = { type: 'transition', at: BEGUN_AT, to: 'IN_PROGRESS' };
  const done = { type: 'transition', at: DONE_AT, from: 'IN_PROGRESS', to: 'SUCCEEDED' };
  return [
    event({ type: 'intent', at: BEGUN_AT, detail }),
    event({ ...moved, from: 'AWAITING_APPROVAL' }),
    event({ type: 'provider_answer', at: DONE_AT, detail: { attempt: 1, outcome: 'succeeded' } }),
    event({ ...done, responseHash: BYTES, providerReference: 'pay_1' }),
  ];
}

function factsOf(members: Partial<OperationFacts>): OperationFacts {
  const o = OPERATION;
  return {
    operation_id: o.operationId,
    account_id: o.accountId,
    kind: o.kind,
    kind_version: o.kindVersion,
    idempotency_key: o.idempotencyKey,
    fingerprint: o.fingerprint,
    fingerprint_version: o.fingerprintVersion,
    status: o.status,
    agent_id: o.agentId,
    agent_run: o.agentRun,
    connection: o.connection,
    adapter: o.adapter,
    provider_token: o.providerToken,
    plan: o.plan,
    provider_reference: o.providerReference,
    response_status: 200,
    response_sha256: BYTES,
    resolved_by: null,
    created_at: at(5),
    updated_at: DONE_AT,
    settled_at: DONE_AT,
    ...members,
  };
}

function approvalFactsOf(votes: readonly VoteFacts[]): ApprovalFacts {
  const p = APPROVAL;
  return {
    approval_id: p.approvalId,
    status: p.status,
    fingerprint: p.fingerprint,
    quorum: p.quorum,
    approvers: p.approvers,
    own_requests: p.ownRequests,
    policy_version: p.policyVersion,
    preconditions: p.preconditions,
    expires_at: p.expiresAt,
    decided_at: p.decidedAt,
    consumed_at: p.consumedAt,
    votes,
  };
}

export interface EvidenceSigners {
  readonly audit: SigningKey;
  readonly desk: DecisionSigner;
  /** Whose chain; that of the operation, unless told otherwise. */
  readonly account?: string;
}

/** Approved by two, sent, and done. */
export function goodBundle({ audit, desk, account }: EvidenceSigners): EvidenceBundle {
  const votes = votesOf(desk, 'approved');
  const own = [...birth(), ...votes.map(wordOf), ...sending()];
  return bundled(audit, own, factsOf({}), [approvalFactsOf(votes)], account);
}

/** The second of two said no. */
export function rejectedBundle({ audit, desk }: EvidenceSigners): EvidenceBundle {
  const votes = votesOf(desk, 'rejected');
  const end = { from: 'AWAITING_APPROVAL', to: 'REJECTED', responseHash: BYTES };
  const own = [
    ...birth(),
    ...votes.map(wordOf),
    event({ type: 'transition', at: VOTED_AT[1], ...end }),
  ];
  const row = factsOf({ status: 'REJECTED', provider_reference: null });
  const approval = { ...approvalFactsOf(votes), status: 'rejected', consumed_at: null } as const;
  return bundled(audit, own, row, [approval]);
}

/** Nobody was asked; the provider works on it, under a reference that it has named in its answer. */
export function pendingBundle({ audit }: EvidenceSigners): EvidenceBundle {
  const [requested, claimed] = birth();
  const detail = { attempt: 1, outcome: 'pending' };
  const own = [
    requested,
    { ...claimed, to: 'PENDING' },
    event({ type: 'transition', from: 'PENDING', to: 'IN_PROGRESS' }),
    event({ type: 'provider_answer', providerReference: 'pay_1', detail }),
  ] as AuditRecord[];
  const open = { status: 'IN_PROGRESS', response_sha256: null, response_status: null } as const;
  return bundled(audit, own, factsOf({ ...open, settled_at: null }), []);
}

/** Two events of others before and one behind; a head in the middle. */
function bundled(
  key: SigningKey,
  own: readonly AuditRecord[],
  operation: OperationFacts,
  approvals: readonly ApprovalFacts[],
  account = OPERATION.accountId,
): EvidenceBundle {
  const log = chainOf(key, [recordOf(2), recordOf(3), ...own, recordOf(4)], [5], account);
  return {
    v: 1,
    operation,
    policy_decision: null,
    approvals,
    attempts: [],
    statements: [],
    entries: log.lines.slice(2, -1),
    proofs: proofsOf(log),
    unsealed: 0,
    checkpoint: null,
    consistent: true,
    disagreements: [],
  };
}

function proofsOf({ lines, heads }: TestLog): EvidenceBundle['proofs'] {
  const hashes = lines.map((line) => (JSON.parse(line) as { hash: string }).hash);
  return heads.map((head) => ({ hashes: hashes.slice(head.first - 1, head.sequence), head }));
}

/** Stands for what is before the first entry of the bundle. */
export function checkpointOf(
  key: SigningKey,
  bundle: EvidenceBundle,
  members: Partial<AuditCheckpoint> = {},
): AuditCheckpoint {
  const first = JSON.parse(bundle.entries[0] ?? '') as AuditEntry;
  const unsigned = {
    v: 1,
    account_id: bundle.operation.account_id,
    through_sequence: first.sequence - 1,
    hash: first.after,
    removed_at: at(50),
    kid: key.kid,
    ...members,
  } as const;
  return { ...unsigned, signature: key.sign(checkpointText(unsigned)) };
}

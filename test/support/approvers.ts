// People who decide about held payments, and held payments for them.
import type { DecisionSigner, SignedDecision } from '../../src/domain/approval-decision.ts';
import type { ApprovalRecord } from '../../src/domain/approval-record.ts';
import { findApproval } from '../../src/store/approval-list.store.ts';
import { decideApproval, type DecisionResult } from '../../src/store/decisions.store.ts';
import { addPrincipals } from '../../src/store/principals.store.ts';
import { DESK } from './desk.ts';
import { claimed, secretOf, type Register } from './register.ts';

export const APPROVER = 'acct_a.approver';
export const SECOND = 'acct_a.approver_2';
/** Belongs to the agent's owner. */
export const COLLEAGUE = 'acct_a.approver_colleague';
/** Another person of the approver's owner. */
export const TEAMMATE = 'acct_a.approver_teammate';

const OWNERS: Readonly<Record<string, string>> = {
  [SECOND]: `owner-of-${SECOND}`,
  [COLLEAGUE]: 'owner-of-acct_a.agent',
  [TEAMMATE]: `owner-of-${APPROVER}`,
};
const ownerOf = (principalId: string): string => OWNERS[principalId] ?? `owner-of-${principalId}`;

export async function addApprovers({ pool }: Register): Promise<void> {
  await addPrincipals(
    pool,
    Object.keys(OWNERS).map((principalId) => ({
      principalId,
      accountId: 'acct_a',
      owner: ownerOf(principalId),
      roles: ['approver'],
      grants: [],
      keyId: `${principalId}.key`,
      secret: secretOf(principalId),
    })),
  );
}

export const HOUR_MS = 3_600_000;

/** Columns of the approval as a policy would have set them. */
interface Wishes {
  readonly quorum?: number;
  readonly approvers?: ApprovalRecord['approvers'];
  readonly own_requests?: boolean;
  readonly accountId?: string;
  readonly ttlMs?: number;
}

export interface Held {
  readonly id: string;
  readonly approvalId: string;
  readonly fingerprint: string;
}

/** A payment that waits for people. */
export async function held(register: Register, wishes: Wishes = {}): Promise<Held> {
  const { ttlMs = HOUR_MS, accountId = 'acct_a', quorum = 1, own_requests = false } = wishes;
  const { id, operation, approval } = await claimed(register, { approvalTtlMs: ttlMs, accountId });
  const { approvers = null } = wishes;
  await register.rows(
    'update approvals set quorum = $2, approvers = $3, own_requests = $4 where operation_id = $1',
    [id, quorum, approvers === null ? null : JSON.stringify(approvers), own_requests],
  );
  return { id, approvalId: approval?.approvalId ?? '', fingerprint: operation.fingerprint };
}

interface Said {
  readonly by?: string;
  readonly decision?: 'approved' | 'rejected';
  readonly fingerprint?: string;
  readonly comment?: string | null;
  readonly desk?: DecisionSigner;
}

/** Has a person decide, as the API does it; an approval unless told otherwise. */
export async function decide(
  { pool }: Register,
  { approvalId, fingerprint }: Omit<Held, 'id'>,
  said: Said = {},
): Promise<DecisionResult> {
  const { by = APPROVER, decision = 'approved', comment = null, desk = DESK.signer } = said;
  const [accountId = ''] = by.split('.');
  return decideApproval(
    pool,
    {
      approvalId,
      by: { principalId: by, accountId, owner: ownerOf(by) },
      route: '/approvals/{id}/approve',
      wish: { decision, fingerprint: said.fingerprint ?? fingerprint },
      comment,
    },
    desk,
  );
}

/** The approval as it is stored now. */
export async function approvalNow({ pool }: Register, { approvalId }: Held) {
  const file = await findApproval(pool, 'acct_a', approvalId);
  if (!file) throw new Error(`no approval ${approvalId}`);
  return file.approval;
}

export const signedBy = (record: ApprovalRecord, principalId = APPROVER): SignedDecision =>
  record.votes.find((one) => one.principalId === principalId)?.signed as SignedDecision;

// A person's decision as the approval desk signs it (contract §7): what it is about stands in it, so a decision can't be carried over to
// another request, another plan or another person. Whoever acts on one checks the signature; a row that says "approved" proves nothing.
import type { ApprovalRecord } from './approval-record.ts';
import { canonicalJson } from './canonical-json.ts';
import type { Operation } from './operation.ts';
import { sha256Hex } from './sha256.ts';
import type { JsonValue } from './strict-json.ts';

/** Version of the form below. */
const VERSION = 1;

/** Keeps these signatures apart from all others that the same key might make. */
const DOMAIN = 'holdfast-approval-v1\n';

/** Above the longest member, an idempotency key or an owner; what is longer was never signed here. */
const LONGEST_MEMBER = 1_000;

/** The signal's payload and the stored vote; named as on the wire. */
export type SignedDecision = DecisionTerms & { readonly kid: string; readonly signature: string };

type DecisionTerms = {
  readonly v: typeof VERSION;
  readonly account_id: string;
  readonly approval_id: string;
  readonly operation_id: string;
  readonly idempotency_key: string;
  readonly fingerprint: string;
  readonly plan_hash: string;
  readonly decision: 'approved' | 'rejected';
  readonly approver: { readonly principal_id: string; readonly owner: string };
  readonly decided_at: string;
  readonly expires_at: string;
  readonly policy_version: string | null;
};

/** Signs at the desk; the private key is behind it. */
export interface DecisionSigner {
  readonly kid: string;
  sign(text: string): string;
}

/** Knows the desk's public keys; anything it can't check is false. */
export interface DecisionVerifier {
  verify(kid: string, text: string, signature: string): boolean;
}

/** What a decision is about. */
export interface DecisionSubject {
  readonly operation: Pick<
    Operation,
    | 'operationId'
    | 'accountId'
    | 'idempotencyKey'
    | 'fingerprint'
    | 'plan'
    | 'connection'
    | 'providerToken'
  >;
  readonly approval: Pick<
    ApprovalRecord,
    | 'approvalId'
    | 'expiresAt'
    | 'quorum'
    | 'approvers'
    | 'ownRequests'
    | 'policyVersion'
    | 'preconditions'
  >;
}

/** SHA-256 over what was agreed to beyond the command: editing any of it afterwards voids the signatures. */
export function planHashOf({ operation, approval }: DecisionSubject): string {
  const { quorum, approvers, ownRequests: own_requests, preconditions } = approval;
  const { plan, connection, providerToken: provider_token } = operation;
  const agreed = {
    plan,
    connection,
    provider_token,
    quorum,
    approvers,
    own_requests,
    preconditions,
  };
  return sha256Hex(canonicalJson(agreed as unknown as JsonValue));
}

/** The decision of a person, signed. `decidedAt` is the database clock's time. */
export function signDecision(
  desk: DecisionSigner,
  subject: DecisionSubject,
  given: {
    readonly decision: 'approved' | 'rejected';
    readonly approver: { readonly principalId: string; readonly owner: string };
    readonly decidedAt: string;
  },
): SignedDecision {
  const { approver, decision, decidedAt } = given;
  const unsigned = {
    ...termsOf(subject),
    kid: desk.kid,
    decision,
    approver: { principal_id: approver.principalId, owner: approver.owner },
    decided_at: decidedAt,
  };
  return { ...unsigned, signature: desk.sign(signedText(unsigned)) };
}

/** The members that the subject fixes; a decision about it has exactly these. */
function termsOf(subject: DecisionSubject) {
  const { operation, approval } = subject;
  return {
    v: VERSION,
    account_id: operation.accountId,
    approval_id: approval.approvalId,
    operation_id: operation.operationId,
    idempotency_key: operation.idempotencyKey,
    fingerprint: operation.fingerprint,
    plan_hash: planHashOf(subject),
    expires_at: approval.expiresAt,
    policy_version: approval.policyVersion,
  } as const;
}

function signedText(decision: Omit<SignedDecision, 'signature'>): string {
  return `${DOMAIN}${canonicalJson(decision)}`;
}

/** Why a decision is not believed, as the audit names it. */
export type DecisionFault = 'decision_malformed' | 'signature_invalid' | 'decision_mismatch';

/** A decision that is believed, or why it is not. A subject that isn't there matches nothing. */
export function checkDecision(
  value: unknown,
  subject: DecisionSubject | undefined,
  desk: DecisionVerifier,
): SignedDecision | DecisionFault {
  const decision = parseDecision(value);
  if (!decision) return 'decision_malformed';
  const { signature, ...unsigned } = decision;
  if (!desk.verify(decision.kid, signedText(unsigned), signature)) return 'signature_invalid';
  const matches =
    subject !== undefined &&
    Object.entries(termsOf(subject)).every(([name, term]) => Reflect.get(decision, name) === term);
  return matches ? decision : 'decision_mismatch';
}

const TEXTS = [
  'kid',
  'account_id',
  'approval_id',
  'operation_id',
  'idempotency_key',
  'fingerprint',
  'plan_hash',
  'decided_at',
  'expires_at',
  'signature',
] as const;
const MEMBERS: ReadonlySet<string> = new Set([
  ...TEXTS,
  'v',
  'decision',
  'approver',
  'policy_version',
]);

/** The decision where the value has its members and no others; undefined for anything else that somebody may have sent. */
export function parseDecision(value: unknown): SignedDecision | undefined {
  if (!isRecord(value) || Object.keys(value).some((name) => !MEMBERS.has(name))) return undefined;
  const { v, decision, approver, policy_version: policyVersion } = value;
  const fits =
    v === VERSION &&
    TEXTS.every((name) => isText(value[name])) &&
    (decision === 'approved' || decision === 'rejected') &&
    (policyVersion === null || isText(policyVersion)) &&
    isApprover(approver);
  return fits ? (value as unknown as SignedDecision) : undefined;
}

function isApprover(value: unknown): boolean {
  if (!isRecord(value) || Object.keys(value).length !== 2) return false;
  return isText(value['principal_id']) && isText(value['owner']);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  // A lone surrogate has no canonical form.
  return (
    typeof value === 'string' && value.length <= LONGEST_MEMBER && !/\p{Surrogate}/u.test(value)
  );
}

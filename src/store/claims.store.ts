// The claim: the one transaction by which a key becomes an operation. Nothing acts before it, and one submit of a key gets through.
import type { ProblemCode } from '../domain/error-catalogue.ts';
import type { FrozenTarget } from '../domain/execution-plan.ts';
import { operationAtBirth, type Approval, type Operation } from '../domain/operation.ts';
import { NOTHING_FOUND, type PolicyCase } from '../domain/policy-case.ts';
import { decisionOf } from '../domain/policy-decision.ts';
import type { PolicyVerdict } from '../domain/policy.ts';
import { appendAudit } from './audit.store.ts';
import {
  CLAIMS,
  givenColumns,
  KEY_WITHOUT_OPERATION,
  type ClaimRow,
  type GIVEN,
} from './claim-statement.ts';
import { inBatches } from './in-batches.ts';
import { asksRegister, findLocked, type DayFindings } from './policy-findings.store.ts';
import type { Pool, Queryable } from './pool.ts';
import { run } from './prepared.ts';
import { admitToTarget, type TargetQuestion } from './targets.store.ts';
import { inTransaction } from './transaction.ts';

/** What is decided before the claim; the rest of an operation follows from it. */
export type NewOperation = Omit<Pick<Operation, (typeof GIVEN)[number]>, 'policyDecision'>;

export interface Claim {
  readonly operation: NewOperation;
  readonly route: string;
  /** Whether a business key that is taken refuses the claim or names the operation to be used instead. */
  readonly onDuplicate: 'refuse' | 'reuse';
  /** The earlier operation that it acts on, with the kind's rule, which is asked under that operation's lock. */
  readonly target: TargetQuestion | null;
  /** The policy's case; asked once its target is known, null for kinds without one. */
  readonly policy: (target: Operation | null) => PolicyCase;
  /** Fresh id of the approval, where the policy asks for one. */
  readonly approvalId: string;
}

export type ClaimResult =
  | {
      readonly status: 'claimed';
      readonly operation: Operation;
      readonly approval: Approval | null;
    }
  /** The key was taken meanwhile: read it and answer as a repeat. */
  | { readonly status: 'known' }
  /** The key is now an alias of the operation that holds the business key. */
  | { readonly status: 'reused' }
  | { readonly status: 'business_duplicate'; readonly operationId: string }
  /** The kind's rule refused. A concurrent claim of the same key may be why: look the key up before saying so. */
  | { readonly status: 'not_admitted'; readonly code: ProblemCode; readonly detail: string }
  | Denied;

/** The policy refused; neither key nor business key was taken when it did. */
interface Denied {
  readonly status: 'denied';
  readonly verdict: PolicyVerdict;
}

/** The key or the business key was taken: which one is asked afterwards, the key first. */
type NotClaimed = { readonly status: 'not_claimed' };

/** Claims a key. A refused claim leaves no trace and its key free. */
export async function claim(pool: Pool, request: Claim): Promise<ClaimResult> {
  // The holder of a business key may give it back between two looks; then the next round takes it.
  for (;;) {
    const result = await attempt(pool, request);
    if (result.status !== 'not_claimed' && result.status !== 'denied') return result;
    // Key and business key come before the policy: what exists is answered, whatever the policy says now.
    if (await isKnown(pool, request.operation)) return { status: 'known' };
    const duplicate = await duplicateOf(pool, request);
    if (duplicate) return duplicate;
    if (result.status === 'denied') return result;
  }
}

async function attempt(pool: Pool, request: Claim): Promise<ClaimResult | NotClaimed> {
  try {
    if (request.target) return await claimOnTarget(pool, request, request.target);
    const policy = request.policy(null);
    if (asksRegister(policy)) {
      return await inTransaction(pool, (db) => claimUnderLocks(db, request, policy, null));
    }
    const terms = { verdict: policy.decide(NOTHING_FOUND), target: null };
    return await insert((row) => putTogether(pool, row), request, terms);
  } catch (error) {
    if (isBusinessTaken(error)) return { status: 'not_claimed' };
    throw error;
  }
}

function isBusinessTaken(error: unknown): boolean {
  return (
    error instanceof Error && 'constraint' in error && error.constraint === KEY_WITHOUT_OPERATION
  );
}

/** Under the target's lock, so that concurrent operations on one target are judged one after the other. */
async function claimOnTarget(
  pool: Pool,
  request: Claim,
  question: TargetQuestion,
): Promise<ClaimResult | NotClaimed> {
  return inTransaction(pool, async (db) => {
    const result = await admitToTarget(db, request.operation.accountId, question);
    if (!result.admitted) {
      return { status: 'not_admitted', code: result.code, detail: result.detail };
    }
    return claimUnderLocks(db, request, request.policy(result.operation), result.target);
  });
}

/** Under the locks of twin and ceilings too, where the policy asks for them. */
async function claimUnderLocks(
  db: Queryable,
  request: Claim,
  policy: PolicyCase,
  target: FrozenTarget | null,
): Promise<ClaimResult | NotClaimed> {
  const found = asksRegister(policy) ? await findLocked(db, request.operation, policy) : undefined;
  const verdict = policy.decide(found ?? NOTHING_FOUND);
  const terms = { verdict, target, reserved: found && reservedOf(policy, found) };
  const put = async (row: ClaimRow) => (await putRows(db, [row]))[0];
  return insert(put, request, terms);
}

const reservedOf = ({ reservation }: PolicyCase, { day }: DayFindings) =>
  reservation ? { ...reservation, day } : undefined;

/** What was decided under the claim's locks. */
interface Terms {
  readonly verdict: PolicyVerdict;
  readonly target: FrozenTarget | null;
  readonly reserved?: ReturnType<typeof reservedOf>;
}

/** What the register says of a fresh operation; command and plan as every later reading has them. */
type Birth = Pick<Operation, 'command' | 'plan' | 'createdAt' | 'possibleDuplicateOf'>;

/** Answers the birth of each row's operation, in their order; undefined where a key or business key was taken. */
async function putRows(db: Queryable, claims: readonly ClaimRow[]): Promise<(Birth | undefined)[]> {
  const { rows } = await run(db, CLAIMS, [JSON.stringify(claims)]);
  const born = new Map(
    rows.map((row) => [
      row.operation_id,
      {
        command: row.command,
        plan: row.plan,
        createdAt: row.created_at,
        possibleDuplicateOf: row.possible_duplicate_of,
      },
    ]),
  );
  return claims.map((one) => born.get(one['operation_id']));
}

/** Claims without locks of their own share a statement with those of the same moment. */
const putTogether = inBatches(putRows);

async function insert(
  put: (row: ClaimRow) => Promise<Birth | undefined>,
  request: Claim,
  { verdict, target, reserved }: Terms,
): Promise<ClaimResult | NotClaimed> {
  if (verdict.verdict === 'deny') return { status: 'denied', verdict };
  const { operation, approvalId } = request;
  const asked = verdict.verdict === 'require_approval' ? verdict.requirement : undefined;
  const status = asked ? 'AWAITING_APPROVAL' : 'PENDING';
  const policyDecision = decisionOf(verdict);
  const plan = { ...operation.plan, target, awaits_approval: asked !== undefined };
  const given = { ...operation, policyDecision, plan };
  const row: ClaimRow = {
    ...givenColumns(given),
    status,
    approval_id: asked && approvalId,
    approval_reason: asked?.reasons.join('; '),
    approval_ttl_ms: asked?.ttlMs,
    quorum: asked?.quorum,
    approvers: asked?.approvers,
    own_requests: asked?.ownRequests,
    target_id: target?.operation_id,
    target_amount: target?.amount_minor,
    reserved_day: reserved?.day,
    reserved_currency: reserved?.currency,
    reserved_amount: reserved?.amountMinor,
    destination: reserved?.destination,
    events: birthEvents(request, status, verdict),
  };
  const birth = await put(row);
  if (!birth) return { status: 'not_claimed' };
  const born = operationAtBirth({ ...given, ...birth, status });
  return { status: 'claimed', operation: born, approval: openApproval(born, approvalId, verdict) };
}

/** Rules by their names: whoever writes a policy file must not put secrets there, and clients write nothing of it. */
function birthEvents({ route, approvalId }: Claim, status: string, verdict: PolicyVerdict) {
  const { policyVersion, rules } = verdict;
  const policy = { policy_version: policyVersion, verdict: verdict.verdict, rules };
  return [
    { type: 'requested', route },
    { type: 'claimed', route, to_state: status, detail: { policy } },
    ...(verdict.verdict === 'require_approval'
      ? [{ type: 'approval_requested', detail: { approval_id: approvalId } }]
      : []),
  ];
}

function openApproval(
  { createdAt }: Operation,
  approvalId: string,
  verdict: PolicyVerdict,
): Approval | null {
  if (verdict.verdict !== 'require_approval') return null;
  const { reasons, ttlMs } = verdict.requirement;
  const expiresAt = new Date(Date.parse(createdAt) + ttlMs).toISOString();
  return { approvalId, reason: reasons.join('; '), expiresAt, status: 'pending' };
}

async function isKnown(pool: Pool, { accountId, idempotencyKey }: NewOperation): Promise<boolean> {
  const { rowCount } = await pool.query(
    'select 1 from idempotency_keys where account_id = $1 and idempotency_key = $2',
    [accountId, idempotencyKey],
  );
  return rowCount === 1;
}

/** What a taken business key means for this claim; undefined where its holder has given it back. */
async function duplicateOf(
  pool: Pool,
  { operation, onDuplicate, route }: Claim,
): Promise<ClaimResult | undefined> {
  return inTransaction(pool, async (db) => {
    // Shared: the holder can't give the key back before this one has become its alias.
    const { rows } = await db.query<{ operation_id: string }>(
      `select operation_id from business_keys
       where account_id = $1 and kind = $2 and business_key = $3 for share`,
      [operation.accountId, operation.kind, operation.businessKey],
    );
    const operationId = rows[0]?.operation_id;
    if (operationId === undefined) return undefined;
    if (onDuplicate === 'refuse') return { status: 'business_duplicate', operationId };
    return takeAsAlias(db, operation, operationId, route);
  });
}

async function takeAsAlias(
  db: Queryable,
  operation: NewOperation,
  operationId: string,
  route: string,
): Promise<ClaimResult> {
  const { accountId, idempotencyKey, fingerprint, agentId, agentRun, kindVersion } = operation;
  const { rows } = await db.query<{ now: string }>(
    `insert into idempotency_keys
       (account_id, idempotency_key, operation_id, kind_version, fingerprint, principal_id, created_at)
     values ($1, $2, $3, $4, $5, $6, holdfast_now())
     on conflict do nothing returning created_at as now`,
    [accountId, idempotencyKey, operationId, kindVersion, fingerprint, agentId],
  );
  if (!rows[0]) return { status: 'known' };
  const event = { accountId, operationId, at: rows[0].now, route, idempotencyKey, fingerprint };
  const who = { principalId: agentId, agentRun };
  await appendAudit(db, [
    { ...event, ...who, type: 'requested' },
    { ...event, ...who, type: 'claimed', detail: { alias: true } },
  ]);
  return { status: 'reused' };
}

// The claim: the one transaction by which a key becomes an operation. Nothing acts before it, and one submit of a key gets through.
import type { ProblemCode } from '../domain/error-catalogue.ts';
import type { FrozenTarget } from '../domain/execution-plan.ts';
import type { Approval, Operation } from '../domain/operation.ts';
import { appendAudit } from './audit.store.ts';
import { CLAIM, GIVEN, KEY_WITHOUT_OPERATION } from './claim-statement.ts';
import { operationFromRow } from './operation-rows.ts';
import type { Pool, Queryable } from './pool.ts';
import { run } from './prepared.ts';
import { admitToTarget, type TargetQuestion, type TargetResult } from './targets.store.ts';
import { inTransaction } from './transaction.ts';

/** What is decided before the claim; the rest of an operation follows from it. */
export type NewOperation = Pick<Operation, (typeof GIVEN)[number]>;

export interface Claim {
  readonly operation: NewOperation;
  readonly route: string;
  /** Whether a business key that is taken refuses the claim or names the operation to be used instead. */
  readonly onDuplicate: 'refuse' | 'reuse';
  /** The earlier operation that it acts on, with the kind's rule, which is asked under that operation's lock. */
  readonly target: TargetQuestion | null;
  /** Present where a person must decide first. */
  readonly approval: (Pick<Approval, 'approvalId' | 'reason'> & { readonly ttlMs: number }) | null;
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
  | { readonly status: 'not_admitted'; readonly code: ProblemCode; readonly detail: string };

/** The key or the business key was taken: which one is asked afterwards, the key first. */
type NotClaimed = { readonly status: 'not_claimed' };

/** Claims a key. A refused claim leaves no trace and its key free. */
export async function claim(pool: Pool, request: Claim): Promise<ClaimResult> {
  // The holder of a business key may give it back between two looks; then the next round takes it.
  for (;;) {
    const result = await attempt(pool, request);
    if (result.status !== 'not_claimed') return result;
    if (await isKnown(pool, request.operation)) return { status: 'known' };
    const duplicate = await duplicateOf(pool, request);
    if (duplicate) return duplicate;
  }
}

async function attempt(pool: Pool, request: Claim): Promise<ClaimResult | NotClaimed> {
  try {
    return request.target
      ? await claimOnTarget(pool, request, request.target)
      : await insert(pool, request, null);
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
    const result: TargetResult = await admitToTarget(db, request.operation.accountId, question);
    if (!result.admitted) return { ...result, status: 'not_admitted' };
    return insert(db, request, result.target);
  });
}

async function insert(
  db: Queryable,
  { operation, route, approval }: Claim,
  target: FrozenTarget | null,
): Promise<ClaimResult | NotClaimed> {
  const status = approval ? 'AWAITING_APPROVAL' : 'PENDING';
  const planned = { ...operation, plan: { ...operation.plan, target } };
  const events = [
    { type: 'requested', route },
    { type: 'claimed', route, to_state: status },
    ...(approval
      ? [{ type: 'approval_requested', detail: { approval_id: approval.approvalId } }]
      : []),
  ];
  const { rows } = await run(db, CLAIM, [
    ...GIVEN.map((member) => planned[member]),
    status,
    approval?.approvalId,
    approval?.reason,
    approval?.ttlMs,
    target?.operation_id,
    target?.amount_minor,
    JSON.stringify(events),
  ]);
  if (!rows[0]) return { status: 'not_claimed' };
  const born = operationFromRow(rows[0]);
  return { status: 'claimed', operation: born, approval: openApproval(born, approval) };
}

function openApproval({ createdAt }: Operation, wanted: Claim['approval']): Approval | null {
  if (!wanted) return null;
  const { approvalId, reason, ttlMs } = wanted;
  const expiresAt = new Date(Date.parse(createdAt) + ttlMs).toISOString();
  return { approvalId, reason, expiresAt, status: 'pending' };
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

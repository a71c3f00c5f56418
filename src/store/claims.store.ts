// The claim: the one transaction by which a key becomes an operation. Nothing acts before it, and one submit of a key gets through.
import type { ProblemCode } from '../domain/error-catalogue.ts';
import type { Approval, Operation } from '../domain/operation.ts';
import type { FrozenTarget } from '../domain/execution-plan.ts';
import { appendAudit, auditOf, type AuditEvent } from './audit.store.ts';
import { OPERATION_COLUMNS, operationFromRow } from './operation-rows.ts';
import type { Pool, Queryable } from './pool.ts';
import { admitToTarget, type TargetQuestion } from './targets.store.ts';
import { inTransaction } from './transaction.ts';

const GIVEN = [
  'operationId',
  'accountId',
  'idempotencyKey',
  'kind',
  'kindVersion',
  'fingerprint',
  'fingerprintVersion',
  'command',
  'businessKey',
  'agentId',
  'agentRun',
  'traceparent',
  'connection',
  'adapter',
  'providerToken',
  'plan',
] as const satisfies readonly (keyof Operation)[];

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
  | { readonly status: 'not_admitted'; readonly code: ProblemCode; readonly detail: string };

/** The engine is told at once by the API; the relay takes over when that hasn't happened after this long. */
const RELAY_GRACE = '2 seconds';
/** A row is first compared with the engine after this long: by then a healthy one has moved on. */
const FIRST_SWEEP_AFTER = '30 seconds';

/** An agent that lost its plan makes it anew within a day; later an equal request is likely a new one. */
const TWIN_WINDOW = '24 hours';

/** Rolls the claim back and is its result: a refused claim leaves no trace. */
class Refused extends Error {
  readonly result: ClaimResult;
  constructor(result: ClaimResult) {
    super(result.status);
    this.result = result;
  }
}

/** Claims a key. The loser of a race learns of the winner before any other rule is asked. */
export async function claim(pool: Pool, request: Claim): Promise<ClaimResult> {
  try {
    return await inTransaction(pool, (db) => claimIn(db, request));
  } catch (error) {
    if (error instanceof Refused) return error.result;
    throw error;
  }
}

async function claimIn(db: Queryable, request: Claim): Promise<ClaimResult> {
  const now = await takeKey(db, request.operation);
  if (now === undefined) return { status: 'known' };
  const { accountId } = request.operation;
  const target = request.target && (await admit(db, accountId, request.target));
  const holder = await takeBusinessKey(db, request.operation);
  if (holder !== undefined) return duplicateOf(db, request, holder, now);
  const operation = await insertOperation(db, request, target, now);
  const approval = await openApproval(db, operation, request.approval);
  await appendAudit(db, claimEvents(operation, request.route, approval));
  await enqueueStart(db, operation);
  return { status: 'claimed', operation, approval };
}

/** Waits for a concurrent claim of the same key to end. Answers the database clock's time; undefined where the key is taken. */
async function takeKey(db: Queryable, operation: NewOperation): Promise<string | undefined> {
  const { rows } = await db.query<{ created_at: string }>(
    `insert into idempotency_keys
       (account_id, idempotency_key, operation_id, kind_version, fingerprint, principal_id, created_at)
     values ($1, $2, $3, $4, $5, $6, holdfast_now())
     on conflict do nothing returning created_at`,
    [
      operation.accountId,
      operation.idempotencyKey,
      operation.operationId,
      operation.kindVersion,
      operation.fingerprint,
      operation.agentId,
    ],
  );
  return rows[0]?.created_at;
}

async function admit(
  db: Queryable,
  accountId: string,
  target: TargetQuestion,
): Promise<FrozenTarget> {
  const result = await admitToTarget(db, accountId, target);
  if (result.admitted) return result.target;
  throw new Refused({ status: 'not_admitted', code: result.code, detail: result.detail });
}

/** Waits for a concurrent claim of the same business key to end; answers who holds it, undefined where it is ours now. */
async function takeBusinessKey(
  db: Queryable,
  { accountId, kind, businessKey, operationId }: NewOperation,
): Promise<string | undefined> {
  if (businessKey === null) return undefined;
  // The holder may release the key between the two statements; then the next round takes it.
  for (;;) {
    const { rowCount } = await db.query(
      `insert into business_keys (account_id, kind, business_key, operation_id)
       values ($1, $2, $3, $4) on conflict do nothing`,
      [accountId, kind, businessKey, operationId],
    );
    if (rowCount === 1) return undefined;
    // Shared: the holder can't give the key back before this claim has been refused or has become its alias.
    const { rows } = await db.query<{ operation_id: string }>(
      `select operation_id from business_keys
       where account_id = $1 and kind = $2 and business_key = $3 for share`,
      [accountId, kind, businessKey],
    );
    if (rows[0]) return rows[0].operation_id;
  }
}

async function duplicateOf(
  db: Queryable,
  { operation, onDuplicate, route }: Claim,
  holder: string,
  now: string,
): Promise<ClaimResult> {
  if (onDuplicate === 'refuse') {
    throw new Refused({ status: 'business_duplicate', operationId: holder });
  }
  const { accountId, idempotencyKey, fingerprint, agentId, agentRun } = operation;
  await db.query(
    `update idempotency_keys set operation_id = $3
     where account_id = $1 and idempotency_key = $2`,
    [accountId, idempotencyKey, holder],
  );
  const event = { accountId, operationId: holder, at: now, route, idempotencyKey, fingerprint };
  const who = { principalId: agentId, agentRun };
  await appendAudit(db, [
    { ...event, ...who, type: 'requested' },
    { ...event, ...who, type: 'claimed', detail: { alias: true } },
  ]);
  return { status: 'reused' };
}

const parameter = (member: (typeof GIVEN)[number]): string => `$${GIVEN.indexOf(member) + 3}`;

/** Uses operations_by_fingerprint. Twins that come at the same moment may miss each other; nothing is decided by the mark. */
const TWIN = `(select t.operation_id from operations t
  where t.account_id = ${parameter('accountId')} and t.fingerprint = ${parameter('fingerprint')}
    and t.created_at > $2::timestamptz - interval '${TWIN_WINDOW}'
    and t.status not in ('FAILED', 'REJECTED', 'EXPIRED', 'CANCELED')
  order by t.created_at desc limit 1)`;

const INSERT = `insert into operations (status, created_at, updated_at, next_sweep_at, possible_duplicate_of,
    ${GIVEN.map((member) => OPERATION_COLUMNS[member]).join(', ')})
  values ($1, $2, $2, $2::timestamptz + interval '${FIRST_SWEEP_AFTER}', ${TWIN},
    ${GIVEN.map(parameter).join(', ')})
  returning *`;

async function insertOperation(
  db: Queryable,
  { operation, approval }: Claim,
  target: FrozenTarget | null,
  now: string,
): Promise<Operation> {
  const planned = { ...operation, plan: { ...operation.plan, target } };
  const { rows } = await db.query(INSERT, [
    approval ? 'AWAITING_APPROVAL' : 'PENDING',
    now,
    ...GIVEN.map((member) => planned[member]),
  ]);
  if (target) {
    await db.query(
      `insert into target_claims (operation_id, target_operation_id, amount_minor)
       values ($1, $2, $3)`,
      [operation.operationId, target.operation_id, target.amount_minor],
    );
  }
  return operationFromRow(rows[0]);
}

async function openApproval(
  db: Queryable,
  operation: Operation,
  wanted: Claim['approval'],
): Promise<Approval | null> {
  if (!wanted) return null;
  const { approvalId, reason, ttlMs } = wanted;
  const { operationId, fingerprint, createdAt } = operation;
  const expiresAt = new Date(Date.parse(createdAt) + ttlMs).toISOString();
  await db.query(
    `insert into approvals
       (approval_id, operation_id, fingerprint, status, reason, created_at, expires_at)
     values ($1, $2, $3, 'pending', $4, $5, $6)`,
    [approvalId, operationId, fingerprint, reason, createdAt, expiresAt],
  );
  return { approvalId, reason, expiresAt, status: 'pending' };
}

function claimEvents(operation: Operation, route: string, approval: Approval | null): AuditEvent[] {
  const at = operation.createdAt;
  const asked: AuditEvent[] = approval
    ? [
        {
          ...auditOf(operation, 'approval_requested', at),
          detail: { approval_id: approval.approvalId },
        },
      ]
    : [];
  return [
    { ...auditOf(operation, 'requested', at), route },
    { ...auditOf(operation, 'claimed', at), route, to: operation.status },
    ...asked,
  ];
}

async function enqueueStart(db: Queryable, { operationId, createdAt }: Operation): Promise<void> {
  await db.query(
    `insert into outbox_messages (operation_id, type, next_delivery_at)
     values ($1, 'start', $2::timestamptz + interval '${RELAY_GRACE}')`,
    [operationId, createdAt],
  );
}

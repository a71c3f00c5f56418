// The claim: the one transaction by which a key becomes an operation. Nothing acts before it, and one submit of a key gets through.
import type { Approval, Operation } from '../domain/operation.ts';
import { appendAudit, auditOf, type AuditEvent } from './audit.store.ts';
import { OPERATION_COLUMNS, operationFromRow } from './operation-rows.ts';
import type { Pool, Queryable } from './pool.ts';
import { inTransaction } from './transaction.ts';

/** What is decided before the claim; the rest of an operation follows from it. */
export type NewOperation = Pick<
  Operation,
  | 'operationId'
  | 'accountId'
  | 'idempotencyKey'
  | 'kind'
  | 'kindVersion'
  | 'fingerprint'
  | 'fingerprintVersion'
  | 'command'
  | 'businessKey'
  | 'agentId'
  | 'agentRun'
  | 'traceparent'
  | 'connection'
  | 'adapter'
  | 'providerToken'
  | 'plan'
>;

export interface Claim {
  readonly operation: NewOperation;
  readonly route: string;
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
  | { readonly status: 'business_duplicate'; readonly operationId: string };

/** The engine is told at once by the API; the relay takes over when that hasn't happened after this long. */
const RELAY_GRACE = '2 seconds';
/** A row is first compared with the engine after this long: by then a healthy one has moved on. */
const FIRST_SWEEP_AFTER = '30 seconds';

/** Ends a transaction without an error being logged as one. */
class TakenByOther extends Error {
  readonly operationId: string;
  constructor(operationId: string) {
    super('business key taken');
    this.operationId = operationId;
  }
}

/** Claims a key. The loser of a race learns of the winner; a refused claim leaves no trace. */
export async function claim(pool: Pool, request: Claim): Promise<ClaimResult> {
  try {
    return await inTransaction(pool, async (db) => {
      const operation = await insertOperation(db, request);
      if (!operation) return { status: 'known' as const };
      await takeBusinessKey(db, operation);
      const approval = await openApproval(db, operation, request.approval);
      await appendAudit(db, claimEvents(operation, request.route, approval));
      await enqueueStart(db, operation);
      return { status: 'claimed' as const, operation, approval };
    });
  } catch (error) {
    if (!(error instanceof TakenByOther)) throw error;
    return { status: 'business_duplicate', operationId: error.operationId };
  }
}

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
] as const satisfies readonly (keyof NewOperation)[];

const INSERT = `insert into operations (status, created_at, updated_at, next_sweep_at,
    ${GIVEN.map((member) => OPERATION_COLUMNS[member]).join(', ')})
  select $1, now, now, now + interval '${FIRST_SWEEP_AFTER}',
    ${GIVEN.map((_, n) => `$${n + 2}`).join(', ')}
  from holdfast_now() as now
  on conflict (account_id, idempotency_key) do nothing
  returning *`;

async function insertOperation(db: Queryable, request: Claim): Promise<Operation | undefined> {
  const { operation, approval } = request;
  const { rows } = await db.query(INSERT, [
    approval ? 'AWAITING_APPROVAL' : 'PENDING',
    ...GIVEN.map((member) => operation[member]),
  ]);
  return rows[0] && operationFromRow(rows[0]);
}

/** Waits for a concurrent claim of the same business key to commit or roll back; throws `TakenByOther` where it is held. */
async function takeBusinessKey(db: Queryable, operation: Operation): Promise<void> {
  const { accountId, kind, businessKey, operationId } = operation;
  if (businessKey === null) return;
  // The holder may release the key between the two statements; then the next round takes it.
  for (;;) {
    const { rowCount } = await db.query(
      `insert into business_keys (account_id, kind, business_key, operation_id)
       values ($1, $2, $3, $4) on conflict do nothing`,
      [accountId, kind, businessKey, operationId],
    );
    if (rowCount === 1) return;
    const { rows } = await db.query<{ operation_id: string }>(
      `select operation_id from business_keys
       where account_id = $1 and kind = $2 and business_key = $3`,
      [accountId, kind, businessKey],
    );
    if (rows[0]) throw new TakenByOther(rows[0].operation_id);
  }
}

async function openApproval(
  db: Queryable,
  operation: Operation,
  wanted: Claim['approval'],
): Promise<Approval | null> {
  if (!wanted) return null;
  const { approvalId, reason, ttlMs } = wanted;
  const expiresAt = new Date(Date.parse(operation.createdAt) + ttlMs).toISOString();
  await db.query(
    `insert into approvals (approval_id, operation_id, fingerprint, status, reason, created_at, expires_at)
     values ($1, $2, $3, 'pending', $4, $5, $6)`,
    [
      approvalId,
      operation.operationId,
      operation.fingerprint,
      reason,
      operation.createdAt,
      expiresAt,
    ],
  );
  return { approvalId, reason, expiresAt, status: 'pending' };
}

function claimEvents(operation: Operation, route: string, approval: Approval | null): AuditEvent[] {
  const at = operation.createdAt;
  const approvalId = approval?.approvalId;
  return [
    { ...auditOf(operation, 'requested', at), route },
    { ...auditOf(operation, 'claimed', at), route, to: operation.status },
    ...(approval
      ? [{ ...auditOf(operation, 'approval_requested', at), detail: { approval_id: approvalId } }]
      : []),
  ];
}

async function enqueueStart(db: Queryable, { operationId, createdAt }: Operation): Promise<void> {
  await db.query(
    `insert into outbox_messages (operation_id, type, next_delivery_at)
     values ($1, 'start', $2::timestamptz + interval '${RELAY_GRACE}')`,
    [operationId, createdAt],
  );
}

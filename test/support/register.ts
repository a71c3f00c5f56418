// A register of operations in a database of its own, with two accounts, and the steps by which tests bring an operation where they
// want it. Everything goes through the store itself; only the clock is set from outside.
import { randomUUID } from 'node:crypto';
import type { ApprovalRequirement } from '../../src/domain/approval-requirement.ts';
import type { Approval, OperationFile } from '../../src/domain/operation.ts';
import type { OperationState } from '../../src/domain/operation-state.ts';
import type { PolicyCase } from '../../src/domain/policy-case.ts';
import type { PolicyVerdict } from '../../src/domain/policy.ts';
import type { WriteOutcome } from '../../src/domain/outcome.ts';
import { fingerprintOf } from '../../src/domain/fingerprint.ts';
import type { Change } from '../../src/domain/settlement.ts';
import { commitIntent, storeAttemptOutcome } from '../../src/store/attempts.store.ts';
import { claim, type Claim, type ClaimResult } from '../../src/store/claims.store.ts';
import { readFile } from '../../src/store/operations.store.ts';
import { createPool, type Pool } from '../../src/store/pool.ts';
import { addPrincipals, type Role } from '../../src/store/principals.store.ts';
import { inTransaction } from '../../src/store/transaction.ts';
import { moveOperation } from '../../src/store/transitions.store.ts';
import { planOf } from './operation-file.ts';
import { UNCHANGED } from './desk.ts';
import type { FirstIntentChecks } from '../../src/store/first-intent.store.ts';
import { createTestDatabase } from './postgres.ts';

const PEOPLE: Readonly<Record<string, Role>> = {
  agent: 'agent',
  agent_2: 'agent',
  agent_bare: 'agent',
  approver: 'approver',
  operator: 'operator',
  auditor: 'auditor',
  admin: 'admin',
};
export const ACCOUNTS = ['acct_a', 'acct_b'] as const;

/** The secret of a seeded principal, for tests that speak HTTP. */
export const secretOf = (principalId: string): string => `secret-of-${principalId}`;

export interface Register {
  readonly pool: Pool;
  readonly url: string;
  /** Rows of a statement. */
  readonly rows: (sql: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;
  /** The one number that a statement answers. */
  readonly count: (sql: string, values?: unknown[]) => Promise<number>;
  /** Sets how far the database clock is ahead. */
  readonly shiftClock: (milliseconds: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** A fresh database with principals; agents are granted payments, all but `agent_bare`. */
export async function openRegister(): Promise<Register> {
  const database = await createTestDatabase();
  const pool = createPool(database.url, { max: 20, onIdleError: () => {} });
  await addPrincipals(
    pool,
    ACCOUNTS.flatMap((accountId) =>
      Object.entries(PEOPLE).map(([name, role]) => ({
        principalId: `${accountId}.${name}`,
        accountId,
        owner: `owner-of-${accountId}.${name}`,
        roles: [role],
        grants: role === 'agent' && name !== 'agent_bare' ? ['payment'] : [],
        keyId: `${accountId}.${name}.key`,
        secret: secretOf(`${accountId}.${name}`),
      })),
    ),
  );
  const rows: Register['rows'] = async (sql, values = []) => (await pool.query(sql, values)).rows;
  return {
    pool,
    url: database.url,
    rows,
    count: async (sql, values) => Number(Object.values((await rows(sql, values))[0] ?? {})[0]),
    shiftClock: async (milliseconds) => {
      await pool.query(`update installation set clock_offset = $1 * interval '1 millisecond'`, [
        milliseconds,
      ]);
    },
    close: async () => {
      await pool.end();
      await database.drop();
    },
  };
}

interface ClaimWishes {
  readonly accountId?: string;
  readonly key?: string;
  /** Null: a kind without uniqueness. */
  readonly invoice?: string | null;
  readonly approvalTtlMs?: number | undefined;
  /** What the approval demands; it is asked for where `approvalTtlMs` is given. */
  readonly requirement?: Partial<ApprovalRequirement> | undefined;
  readonly policy?: Claim['policy'];
  readonly plan?: Claim['operation']['plan'];
}

const POLICY_VERSION = 'cd'.repeat(32);

/** Allows, or asks for an approval for so long. */
function verdictOf(
  ttlMs: number | undefined,
  requirement: Partial<ApprovalRequirement> = {},
): PolicyVerdict {
  const decided = { rules: ['a-test'], reasons: ['a test'], policyVersion: POLICY_VERSION };
  if (ttlMs === undefined) return { ...decided, verdict: 'allow' };
  const { rules: _, ...terms } = decided;
  const open = { quorum: 1, approvers: null, ownRequests: false };
  return {
    ...decided,
    verdict: 'require_approval',
    requirement: { ...terms, ...open, ttlMs, ...requirement },
  };
}

/** A policy that asks for nothing and has made up its mind. */
function settledCase(verdict: PolicyVerdict): PolicyCase {
  return { asksForTwin: false, ceilings: [], reservation: null, decide: () => verdict };
}

/** A claim of a payment; every member that isn't wished for is new. */
export function claimOf(wishes: ClaimWishes = {}): Claim {
  const { accountId = 'acct_a', key = `key-${randomUUID()}` } = wishes;
  const { invoice = `inv-${randomUUID()}`, approvalTtlMs } = wishes;
  const command = {
    amount: '10.00',
    currency: 'USD',
    customer_id: 'cus_1',
    invoice_id: invoice ?? '-',
    capture: 'automatic',
  };
  return {
    route: '/agent/operations/payment',
    onDuplicate: 'refuse',
    target: null,
    approvalId: `apr_${randomUUID()}`,
    policy: wishes.policy ?? (() => settledCase(verdictOf(approvalTtlMs, wishes.requirement))),
    operation: {
      operationId: `op_${randomUUID()}`,
      accountId,
      idempotencyKey: key,
      kind: 'payment',
      kindVersion: 1,
      fingerprint: fingerprintOf({ accountId, kind: 'payment', kindVersion: 1, command }),
      fingerprintVersion: 1,
      command,
      businessKey: invoice === null ? null : JSON.stringify([invoice]),
      agentId: `${accountId}.agent`,
      agentRun: null,
      traceparent: null,
      connection: `sandbox_${accountId}`,
      adapter: 'sandbox',
      providerToken: key,
      plan: wishes.plan ?? planOf({}, approvalTtlMs !== undefined),
    },
  };
}

/** The file of a fresh claim; throws where it was not claimed. */
export async function claimed(
  { pool }: Register,
  wishes: ClaimWishes = {},
): Promise<OperationFile & { readonly id: string }> {
  const result: ClaimResult = await claim(pool, claimOf(wishes));
  if (result.status !== 'claimed') throw new Error(result.status);
  const approval: Approval | null = result.approval;
  const { operation } = result;
  return { operation, attempts: [], approval, id: operation.operationId };
}

/** The file as it is stored now. */
export async function stored({ pool }: Register, operationId: string): Promise<OperationFile> {
  const file = await readFile(pool, operationId);
  if (!file) throw new Error(`no operation ${operationId}`);
  return file;
}

/** Makes one change in a transaction of its own, from the row as it stands. */
export async function move(
  register: Register,
  operationId: string,
  change: Change,
): Promise<OperationFile> {
  const file = await stored(register, operationId);
  const moved = await inTransaction(register.pool, async (db) => {
    const { rows } = await db.query('select holdfast_now() as now');
    return moveOperation(db, file, rows[0].now, change);
  });
  if (!moved) throw new Error('a lost compare-and-set');
  return moved;
}

/** The moves that lead to a state from the claim. */
const PATHS: Readonly<Record<OperationState, readonly OperationState[]>> = {
  PENDING: [],
  AWAITING_APPROVAL: [],
  IN_PROGRESS: ['IN_PROGRESS'],
  UNKNOWN: ['IN_PROGRESS', 'UNKNOWN'],
  RECONCILING: ['IN_PROGRESS', 'UNKNOWN', 'RECONCILING'],
  NEEDS_REVIEW: ['IN_PROGRESS', 'NEEDS_REVIEW'],
  SUCCEEDED: ['IN_PROGRESS', 'SUCCEEDED'],
  FAILED: ['IN_PROGRESS', 'FAILED'],
  REJECTED: ['REJECTED'],
  EXPIRED: ['EXPIRED'],
  CANCELED: ['CANCELED'],
};

/** A fresh operation that has moved to a state; attempts are not made, only moves. */
export async function operationIn(
  register: Register,
  state: OperationState,
  wishes: ClaimWishes = {},
): Promise<OperationFile & { readonly id: string }> {
  const waits = state === 'AWAITING_APPROVAL' || state === 'EXPIRED';
  const approvalTtlMs = waits ? (wishes.approvalTtlMs ?? 60_000) : undefined;
  const { id } = await claimed(register, { ...wishes, approvalTtlMs });
  for (const to of PATHS[state]) {
    const reviewReason = to === 'NEEDS_REVIEW' ? ('reconcile_deadline' as const) : undefined;
    const result = to === 'SUCCEEDED' ? { payment_id: 'pay_1' } : undefined;
    await move(register, id, {
      to,
      ...(reviewReason && { reviewReason }),
      ...(result && { result, providerReference: 'pay_1' }),
    });
  }
  return { ...(await stored(register, id)), id };
}

/** Commits the next intent of an operation as it stands; answers what the store answers. */
export async function begin(
  register: Register,
  operationId: string,
  purpose: 'dispatch' | 'resend' = 'dispatch',
  checks: FirstIntentChecks = UNCHANGED,
) {
  const file = await stored(register, operationId);
  const number = (file.attempts.at(-1)?.number ?? 0) + 1;
  return commitIntent(
    register.pool,
    file,
    {
      number,
      purpose,
      requestBody: '{"amount":"1000"}',
      worker: 'w-1',
    },
    checks,
  );
}

/** Claims an operation and answers its attempts with the given outcomes, in order. */
export async function attempted(
  register: Register,
  outcomes: readonly WriteOutcome[],
  wishes: ClaimWishes = {},
): Promise<{ readonly id: string; readonly file: OperationFile }> {
  const { id } = await claimed(register, wishes);
  for (const [n, outcome] of outcomes.entries()) {
    await begin(register, id);
    await storeAttemptOutcome(register.pool, id, n + 1, outcome);
  }
  return { id, file: await stored(register, id) };
}

/** Everything that tells what happened to an operation, to compare before and after. */
export async function traceOf(register: Register, operationId: string): Promise<unknown> {
  const tables = ['operations', 'attempts', 'evidence', 'audit_events', 'business_keys'];
  const all = await Promise.all(
    tables.map((table) =>
      register.rows(
        `select to_jsonb(t) - 'next_sweep_at' as row from ${table} t where operation_id = $1 order by 1`,
        [operationId],
      ),
    ),
  );
  return Object.fromEntries(tables.map((table, n) => [table, all[n]]));
}

/** The audit of an operation in the order it was written, as `type` or `type from>to`. */
export async function auditTypes(register: Register, operationId: string): Promise<string[]> {
  const rows = await register.rows(
    `select type, from_state, to_state from audit_events where operation_id = $1 order by event_id`,
    [operationId],
  );
  return rows.map(({ type, from_state: from, to_state: to }) =>
    type === 'transition' ? `transition ${String(from)}>${String(to)}` : String(type),
  );
}

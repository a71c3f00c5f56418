// Operations as the domain sees them, for tests that need no database: a payment in the state that the test names.
import type { CapabilityCard } from '../../src/domain/capability-card.ts';
import { planFor, type ExecutionPlan } from '../../src/domain/execution-plan.ts';
import {
  operationAtBirth,
  type Approval,
  type Attempt,
  type AttemptOutcome,
  type Operation,
  type OperationFile,
} from '../../src/domain/operation.ts';
import type { WriteOutcome } from '../../src/domain/outcome.ts';

export const CARD: CapabilityCard = {
  token: 'native',
  allowsToken: () => true,
  retentionMs: 24 * 3_600_000,
  maxProcessingMs: 3_000,
  visibilityLagMs: 2_000,
  absenceIsAuthoritative: true,
  lookup: 'token',
  reversible: true,
};

export const PLAN_SETTINGS = {
  providerDeadlineMs: 5_000,
  reconcile: { firstLookMs: 1_000, deadlineMs: 72 * 3_600_000 },
};

export function planOf(
  card: Partial<CapabilityCard> = {},
  awaitsApproval = false,
  settings = PLAN_SETTINGS,
): ExecutionPlan {
  return { ...planFor(settings, { ...CARD, ...card }), awaits_approval: awaitsApproval };
}

export const T0 = '2026-01-02T03:04:05.678Z';

export function operationOf(members: Partial<Operation> = {}): Operation {
  const fresh = operationAtBirth({
    operationId: 'op_1',
    accountId: 'acct_a',
    idempotencyKey: 'key-1',
    kind: 'payment',
    kindVersion: 1,
    fingerprint: 'ab'.repeat(32),
    fingerprintVersion: 1,
    command: { amount: '10.00', currency: 'USD', customer_id: 'cus_1', invoice_id: 'inv-1' },
    businessKey: 'inv-1',
    agentId: 'acct_a.agent',
    agentRun: null,
    traceparent: null,
    status: 'PENDING',
    connection: 'sandbox_acct_a',
    adapter: 'sandbox',
    providerToken: 'key-1',
    plan: planOf(),
    policyDecision: null,
    createdAt: T0,
    possibleDuplicateOf: null,
  });
  return { ...fresh, ...members };
}

export function attemptOf(number: number, outcome: AttemptOutcome, members: Partial<Attempt> = {}) {
  const attempt: Attempt = {
    number,
    purpose: 'dispatch',
    requestBody: '{}',
    startedAt: T0,
    endedAt: outcome === null ? null : T0,
    outcome,
    error: null,
    worker: 'w-1',
    ...members,
  };
  return attempt;
}

export const APPROVAL: Approval = {
  approvalId: 'apr_1',
  status: 'pending',
  reason: 'the amount reaches the approval threshold',
  expiresAt: '2026-01-03T03:04:05.678Z',
};

export function fileOf(
  operation: Partial<Operation> = {},
  attempts: readonly Attempt[] = [],
  approval: Approval | null = null,
): OperationFile {
  return { operation: operationOf(operation), attempts, approval };
}

/** One answer of each sort that a write can come to. */
export const OUTCOMES = {
  succeeded: {
    status: 'succeeded',
    reference: 'pay_1',
    result: { payment_id: 'pay_1', payment_state: 'captured' },
    evidence: { http_status: 201 },
  },
  failed: {
    status: 'failed',
    error: { code: 'provider_declined', message: 'declined' },
    evidence: { http_status: 402 },
  },
  pending: { status: 'pending', reference: 'pay_1', evidence: { http_status: 202 } },
  unknown: { status: 'unknown', reason: 'lost_answer', evidence: {} },
  not_sent: { status: 'not_sent', reason: 'provider_refused', evidence: { http_status: 503 } },
} as const satisfies Record<string, WriteOutcome>;

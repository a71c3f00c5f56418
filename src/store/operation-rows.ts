// Rows of `operations`, `attempts` and `approvals` as the domain's records, and back.
import type { Approval, Attempt, Operation } from '../domain/operation.ts';

type Row = Record<string, unknown>;

/** Column of each member that is read or written as it is. Member order is irrelevant; the list is the mapping. */
export const OPERATION_COLUMNS = {
  operationId: 'operation_id',
  accountId: 'account_id',
  idempotencyKey: 'idempotency_key',
  kind: 'kind',
  kindVersion: 'kind_version',
  fingerprint: 'fingerprint',
  fingerprintVersion: 'fingerprint_version',
  command: 'command',
  businessKey: 'business_key',
  agentId: 'agent_id',
  agentRun: 'agent_run',
  traceparent: 'traceparent',
  status: 'status',
  version: 'version',
  connection: 'connection',
  adapter: 'adapter',
  providerToken: 'provider_token',
  providerReference: 'provider_reference',
  plan: 'plan',
  policyDecision: 'policy_decision',
  safeResendUntil: 'safe_resend_until',
  reviewReason: 'review_reason',
  result: 'result',
  error: 'error',
  lastError: 'last_error',
  unknownSince: 'unknown_since',
  responseStatus: 'response_status',
  responseBody: 'response_body',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  settledAt: 'settled_at',
  conflictsWith: 'conflicts_with',
  possibleDuplicateOf: 'possible_duplicate_of',
  resolvedBy: 'resolved_by',
  wordsAt: 'words_at',
  expiredAt: 'expired_at',
  erasedAt: 'erased_at',
} as const satisfies Record<keyof Operation, string>;

/** A reader of rows; the pairs are made once, because every answer reads a row. */
function readerOf<T>(columns: Record<keyof T, string>): (row: Row) => T {
  const pairs = Object.entries<string>(columns);
  return (row) => {
    const record: Row = {};
    for (const [member, column] of pairs) record[member] = row[column];
    return record as T;
  };
}

export const operationFromRow = readerOf<Operation>(OPERATION_COLUMNS);

export const attemptFromRow = readerOf<Attempt>({
  number: 'number',
  purpose: 'purpose',
  requestBody: 'request_body',
  startedAt: 'started_at',
  endedAt: 'ended_at',
  outcome: 'outcome',
  error: 'error',
  worker: 'worker',
});

export const approvalFromRow = readerOf<Approval>({
  approvalId: 'approval_id',
  status: 'status',
  reason: 'reason',
  expiresAt: 'expires_at',
});

/** Times inside JSON come in Postgres' own spelling; the representation has one spelling only. */
export function timeInJson(text: unknown): string | null {
  return typeof text === 'string' ? new Date(text).toISOString() : null;
}

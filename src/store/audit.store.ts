// The append-only record, written in the transaction of the change it tells of. Ids and states only: no secrets, no free text.
import type { Operation } from '../domain/operation.ts';
import type { OperationState } from '../domain/operation-state.ts';
import type { Queryable } from './pool.ts';
import { run, type Prepared } from './prepared.ts';

/** Every type of event there is (contract §10). */
export const AUDIT_TYPES = [
  'requested',
  'claimed',
  'approval_requested',
  'approval_decided',
  'intent',
  'sent',
  'provider_answer',
  'lookup',
  'transition',
  'replayed',
  'refused',
  'resolved',
] as const;

export type AuditType = (typeof AUDIT_TYPES)[number];

/** One event; `at` is the database clock's time of the change. */
export interface AuditEvent {
  readonly accountId: string;
  readonly operationId: string | null;
  readonly type: AuditType;
  readonly at: string;
  readonly principalId?: string | null;
  readonly agentRun?: string | null;
  readonly route?: string;
  readonly idempotencyKey?: string;
  readonly fingerprint?: string;
  readonly from?: OperationState;
  readonly to?: OperationState;
  readonly responseSha256?: string;
  readonly providerReference?: string | null;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** The members that every event of an operation shares. */
export function auditOf(operation: Operation, type: AuditType, at: string): AuditEvent {
  return {
    accountId: operation.accountId,
    operationId: operation.operationId,
    type,
    at,
    principalId: operation.agentId,
    agentRun: operation.agentRun,
    idempotencyKey: operation.idempotencyKey,
    fingerprint: operation.fingerprint,
  };
}

const COLUMNS = [
  'account_id',
  'operation_id',
  'type',
  'at',
  'principal_id',
  'agent_run',
  'route',
  'idempotency_key',
  'fingerprint',
  'from_state',
  'to_state',
  'response_sha256',
  'provider_reference',
  'detail',
];

/**
 * Inserts the events of a parameter (see `auditRows`) in their order. With `change`, a query of the same statement that answers the changed
 * row of the operation: then only where it was changed, and at the time of that.
 */
export function auditInsert(parameter: string, change?: string): string {
  const values = COLUMNS.map((name) =>
    name === 'at' && change ? `${change}.updated_at` : `e.${name}`,
  );
  return `insert into audit_events (${COLUMNS.join(', ')})
     select ${values.join(', ')}
     from jsonb_populate_recordset(null::audit_events, ${parameter}::jsonb) with ordinality e${change ? `, ${change}` : ''}
     order by e.ordinality`;
}

/** Events as `auditInsert` takes them. */
export function auditRows(events: readonly AuditEvent[]): string {
  const rows = events.map((one) => ({
    account_id: one.accountId,
    operation_id: one.operationId,
    type: one.type,
    at: one.at,
    principal_id: one.principalId,
    agent_run: one.agentRun,
    route: one.route,
    idempotency_key: one.idempotencyKey,
    fingerprint: one.fingerprint,
    from_state: one.from,
    to_state: one.to,
    response_sha256: one.responseSha256,
    provider_reference: one.providerReference,
    detail: one.detail,
  }));
  return JSON.stringify(rows);
}

const APPEND_AUDIT: Prepared = { name: 'append_audit', text: auditInsert('$1') };

/** Appends events in order, in one statement. */
export async function appendAudit(db: Queryable, events: readonly AuditEvent[]): Promise<void> {
  await run(db, APPEND_AUDIT, [auditRows(events)]);
}

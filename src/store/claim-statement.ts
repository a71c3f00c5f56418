// The claim as one statement. Key, business key, operation, its shares of target and ceilings, approval, audit and outbox message stand or
// fall together, and a claim costs one round trip. A taken key leaves nothing to insert from, nor does a business key that is held. One that is
// taken at the same moment leaves a key without an operation, which the foreign key refuses at the commit: half a claim can't exist.
import type { Operation } from '../domain/operation.ts';
import { OPERATION_COLUMNS } from './operation-rows.ts';
import type { Prepared } from './prepared.ts';

/** The members of an operation that are decided before its claim, in the order of their parameters. */
export const GIVEN = [
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
  'policyDecision',
] as const satisfies readonly (keyof Operation)[];

/** The constraint that a claim without its business key breaks. */
export const KEY_WITHOUT_OPERATION = 'idempotency_keys_operation_id_fkey';

/** The engine is told at once by the API; the relay takes over when that hasn't happened after this long. */
const RELAY_GRACE = '2 seconds';
/** A row is first compared with the engine after this long: by then a healthy one has moved on. */
const FIRST_SWEEP_AFTER = '30 seconds';
/** An agent that lost its plan makes it anew within a day; later an equal request is likely a new one. */
const TWIN_WINDOW = '24 hours';

/** Parameters in a select list are text unless they say otherwise. */
const CASTS: Partial<Record<(typeof GIVEN)[number], string>> = {
  kindVersion: '::integer',
  fingerprintVersion: '::integer',
  command: '::jsonb',
  plan: '::jsonb',
  policyDecision: '::jsonb',
};
const given = Object.fromEntries(
  GIVEN.map((member, n) => [member, `$${n + 1}${CASTS[member] ?? '::text'}`]),
) as Record<(typeof GIVEN)[number], string>;
/** Parameters behind the given members, in this order. */
export const BEHIND = {
  status: 'text',
  approvalId: 'text',
  approvalReason: 'text',
  approvalTtlMs: 'float8',
  quorum: 'integer',
  approvers: 'jsonb',
  ownRequests: 'boolean',
  targetId: 'text',
  targetAmount: 'bigint',
  reservedDay: 'date',
  reservedCurrency: 'text',
  reservedAmount: 'bigint',
  destination: 'text',
  events: 'jsonb',
} as const;
const also = Object.fromEntries(
  Object.entries(BEHIND).map(([name, type], n) => [name, `$${GIVEN.length + n + 1}::${type}`]),
) as Record<keyof typeof BEHIND, string>;

const columns = GIVEN.map((member) => OPERATION_COLUMNS[member]).join(', ');
const values = GIVEN.map((member) => given[member]).join(', ');

/**
 * The newest equal request that may have acted. The account is compared in a form that no index has: otherwise a plan that was made while
 * the table was empty walks all the account's operations of the day. Twins that come at the same moment miss each other, unless
 * the policy holds them: then they are looked for under a lock.
 */
export const twinOf = (accountId: string, fingerprint: string, now: string): string =>
  `(select t.operation_id from operations t
  where t.fingerprint = ${fingerprint} and t.account_id || '' = ${accountId}
    and t.created_at > ${now} - interval '${TWIN_WINDOW}'
    and t.status not in ('FAILED', 'REJECTED', 'EXPIRED', 'CANCELED')
  order by t.created_at desc limit 1)`;

const twin = twinOf(given.accountId, given.fingerprint, 'taken.now');

/** Answers the new row; no row where the key is taken, or the business key was already held before. */
export const CLAIM: Prepared = {
  name: 'claim',
  text: `
with taken as (
  insert into idempotency_keys
    (account_id, idempotency_key, operation_id, kind_version, fingerprint, principal_id, created_at)
  select ${given.accountId}, ${given.idempotencyKey}, ${given.operationId}, ${given.kindVersion},
    ${given.fingerprint}, ${given.agentId}, holdfast_now()
  where not exists (
    select from business_keys b where b.account_id = ${given.accountId}
      and b.kind = ${given.kind} and b.business_key = ${given.businessKey})
  on conflict do nothing returning created_at as now),
business as (
  insert into business_keys (account_id, kind, business_key, operation_id)
  select ${given.accountId}, ${given.kind}, ${given.businessKey}, ${given.operationId} from taken
  where ${given.businessKey} is not null
  on conflict do nothing returning operation_id),
born as (
  insert into operations
    (status, created_at, updated_at, next_sweep_at, possible_duplicate_of, ${columns})
  select ${also.status}, taken.now, taken.now, taken.now + interval '${FIRST_SWEEP_AFTER}', ${twin}, ${values}
  from taken
  where ${given.businessKey} is null or exists (select from business)
  returning *),
share as (
  insert into target_claims (operation_id, target_operation_id, amount_minor)
  select operation_id, ${also.targetId}, ${also.targetAmount} from born where ${also.targetId} is not null),
counted as (
  insert into ceiling_reservations
    (operation_id, account_id, day, kind, agent_id, destination, currency, amount_minor)
  select operation_id, account_id, ${also.reservedDay}, kind, agent_id, ${also.destination},
    ${also.reservedCurrency}, ${also.reservedAmount}
  from born where ${also.reservedDay} is not null),
asked as (
  insert into approvals (approval_id, operation_id, fingerprint, status, reason, created_at,
    expires_at, quorum, approvers, own_requests, policy_version)
  select ${also.approvalId}, operation_id, fingerprint, 'pending', ${also.approvalReason}, created_at,
    created_at + ${also.approvalTtlMs} * interval '1 millisecond',
    ${also.quorum}, ${also.approvers}, ${also.ownRequests}, policy_version
  from born where ${also.approvalId} is not null),
audited as (
  insert into audit_events (account_id, operation_id, type, at, principal_id, agent_run, route,
    idempotency_key, fingerprint, to_state, detail)
  select born.account_id, born.operation_id, e.type, born.created_at, born.agent_id, born.agent_run,
    e.route, born.idempotency_key, born.fingerprint, e.to_state, e.detail
  from born, jsonb_populate_recordset(null::audit_events, ${also.events}) with ordinality e
  order by ordinality),
queued as (
  insert into outbox_messages (operation_id, type, next_delivery_at)
  select operation_id, 'start', created_at + interval '${RELAY_GRACE}' from born)
select * from born`,
};

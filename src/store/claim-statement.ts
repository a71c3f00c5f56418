// The claims of one moment as one statement. Of each claim key, business key, operation, its shares of target and ceilings, approval, audit
// and outbox message stand or fall together. A taken key leaves nothing to insert from, nor does a business key that is held. One that is
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

/** Types of the given members that aren't text. */
const TYPES: Partial<Record<(typeof GIVEN)[number], string>> = {
  kindVersion: 'integer',
  fingerprintVersion: 'integer',
  command: 'jsonb',
  plan: 'jsonb',
  policyDecision: 'jsonb',
};

/** What a claim carries besides, with types. */
const ALSO = {
  status: 'text',
  approval_id: 'text',
  approval_reason: 'text',
  approval_ttl_ms: 'float8',
  quorum: 'integer',
  approvers: 'jsonb',
  own_requests: 'boolean',
  target_id: 'text',
  target_amount: 'bigint',
  reserved_day: 'date',
  reserved_currency: 'text',
  reserved_amount: 'bigint',
  destination: 'text',
  events: 'jsonb',
} as const;

/** One claim as the statement takes it. */
export type ClaimRow = Readonly<Record<keyof typeof ALSO, unknown>> &
  Readonly<Record<string, unknown>>;

/** The given members of an operation under the names of their columns. */
export function givenColumns(
  operation: Pick<Operation, (typeof GIVEN)[number]>,
): Record<string, unknown> {
  const columns: Record<string, unknown> = {};
  for (const member of GIVEN) columns[OPERATION_COLUMNS[member]] = operation[member];
  return columns;
}

const record = [
  ...GIVEN.map((member) => `${OPERATION_COLUMNS[member]} ${TYPES[member] ?? 'text'}`),
  ...Object.entries(ALSO).map((column) => column.join(' ')),
].join(', ');

const columns = GIVEN.map((member) => OPERATION_COLUMNS[member]).join(', ');
const values = GIVEN.map((member) => `g.${OPERATION_COLUMNS[member]}`).join(', ');

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

const twin = twinOf('g.account_id', 'g.fingerprint', 'taken.now');

/**
 * `$1`: claims as a JSON array of `ClaimRow`. Answers what only the database knows of each that got through; nothing for one whose key is taken, whose business key
 * was held before, or whose business key another one of the same moment wants. Keys are taken in one order, so that two batches wait for
 * each other in turn and never in a circle.
 */
export const CLAIMS: Prepared = {
  name: 'claims',
  text: `
with given as materialized (select * from jsonb_to_recordset($1::jsonb) as g(${record})),
taken as (
  insert into idempotency_keys
    (account_id, idempotency_key, operation_id, kind_version, fingerprint, principal_id, created_at)
  select account_id, idempotency_key, operation_id, kind_version, fingerprint, agent_id, holdfast_now()
  from given g
  where (select true from business_keys b where b.account_id = g.account_id
      and b.kind = g.kind and b.business_key = g.business_key limit 1) is null
    and not exists (select from given e where e.account_id = g.account_id and e.kind = g.kind
      and e.business_key = g.business_key and e.operation_id < g.operation_id)
  order by account_id, idempotency_key
  on conflict do nothing returning operation_id, created_at as now),
business as (
  insert into business_keys (account_id, kind, business_key, operation_id)
  select account_id, kind, business_key, operation_id from taken join given using (operation_id)
  where business_key is not null
  order by account_id, kind, business_key
  on conflict do nothing returning operation_id),
born as (
  insert into operations
    (status, created_at, updated_at, next_sweep_at, possible_duplicate_of, ${columns})
  select g.status, taken.now, taken.now, taken.now + interval '${FIRST_SWEEP_AFTER}', ${twin}, ${values}
  from taken join given g using (operation_id)
  where g.business_key is null or g.operation_id in (select operation_id from business)
  returning *),
share as (
  insert into target_claims (operation_id, target_operation_id, amount_minor)
  select operation_id, target_id, target_amount from born join given using (operation_id)
  where target_id is not null),
counted as (
  insert into ceiling_reservations
    (operation_id, account_id, day, kind, agent_id, destination, currency, amount_minor)
  select born.operation_id, born.account_id, g.reserved_day, born.kind, born.agent_id,
    g.destination, g.reserved_currency, g.reserved_amount
  from born join given g using (operation_id) where g.reserved_day is not null),
asked as (
  insert into approvals (approval_id, operation_id, fingerprint, status, reason, created_at,
    expires_at, quorum, approvers, own_requests, policy_version)
  select g.approval_id, operation_id, born.fingerprint, 'pending', g.approval_reason, born.created_at,
    born.created_at + g.approval_ttl_ms * interval '1 millisecond',
    g.quorum, g.approvers, g.own_requests, born.policy_version
  from born join given g using (operation_id) where g.approval_id is not null),
audited as (
  insert into audit_events (account_id, operation_id, type, at, principal_id, agent_run, route,
    idempotency_key, fingerprint, to_state, detail)
  select born.account_id, born.operation_id, e.type, born.created_at, born.agent_id, born.agent_run,
    e.route, born.idempotency_key, born.fingerprint, e.to_state, e.detail
  from born join given g using (operation_id),
    jsonb_populate_recordset(null::audit_events, g.events) with ordinality e
  order by born.operation_id, ordinality),
queued as (
  insert into outbox_messages (operation_id, type, next_delivery_at)
  select operation_id, 'start', created_at + interval '${RELAY_GRACE}' from born)
select operation_id, command, plan, created_at, possible_duplicate_of from born`,
};

-- The register of operations: who asked for what under which key, what was sent, and what came of it.

-- One row. The clock offset exists so that rules on time can be tried; nothing but the test rig ever sets it.
create table installation (
  only_one boolean primary key default true check (only_one),
  installation_id uuid not null default gen_random_uuid(),
  clock_offset interval not null default interval '0'
);
insert into installation default values;

-- The only clock that decides anything. Milliseconds, because that is what the representation shows and stores.
create function holdfast_now() returns timestamptz language sql volatile as
$$ select date_trunc('milliseconds', clock_timestamp() + clock_offset) from installation $$;

create table principals (
  principal_id text primary key,
  account_id text not null check (account_id ~ '^[a-z0-9_]{1,64}$'),
  -- The human or team behind it: nobody may approve what their own owner submitted.
  owner text not null,
  roles text[] not null check (
    cardinality(roles) > 0
    and roles <@ array['agent', 'approver', 'operator', 'auditor', 'admin']
    and (not 'agent' = any (roles) or cardinality(roles) = 1)
  )
);

create table grants (
  principal_id text not null references principals,
  kind text not null,
  primary key (principal_id, kind)
);

-- Keys are 256 random bits, so a plain SHA-256 is as good as a slow hash and costs nothing per request.
create table api_keys (
  key_id text primary key,
  principal_id text not null references principals,
  secret_sha256 bytea not null unique,
  created_at timestamptz not null default holdfast_now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);

create table operations (
  operation_id text primary key,
  account_id text not null,
  idempotency_key text not null,
  kind text not null,
  kind_version integer not null,
  fingerprint text not null check (fingerprint ~ '^[0-9a-f]{64}$'),
  fingerprint_version integer not null,
  command jsonb not null,
  business_key text,
  agent_id text not null references principals,
  agent_run text,
  traceparent text,
  status text not null check (status in (
    'PENDING', 'AWAITING_APPROVAL', 'IN_PROGRESS', 'UNKNOWN', 'RECONCILING', 'NEEDS_REVIEW',
    'SUCCEEDED', 'FAILED', 'REJECTED', 'EXPIRED', 'CANCELED')),
  version integer not null default 1,
  connection text not null,
  adapter text not null,
  provider_token text not null,
  provider_reference text,
  plan jsonb not null,
  safe_resend_until timestamptz,
  review_reason text,
  result jsonb,
  error jsonb,
  last_error jsonb,
  unknown_since timestamptz,
  response_status integer,
  response_body text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  settled_at timestamptz,
  -- Set on both where an operation that was reopened finds its business key held by another.
  conflicts_with text,
  -- An equal request under another key shortly before. Marked, not held: it may be meant.
  possible_duplicate_of text,
  -- When recovery next compares this row with the engine.
  next_sweep_at timestamptz not null,
  -- A settled operation always has its stored bytes, an open one never.
  check ((status in ('SUCCEEDED', 'FAILED', 'REJECTED', 'EXPIRED', 'CANCELED')) = (response_body is not null))
);
create index operations_by_fingerprint on operations (fingerprint, created_at);
create index operations_by_token on operations (connection, provider_token);
create index operations_by_reference on operations (connection, provider_reference)
  where provider_reference is not null;
create index operations_to_sweep on operations (next_sweep_at)
  where status in ('PENDING', 'AWAITING_APPROVAL', 'IN_PROGRESS', 'UNKNOWN', 'RECONCILING');

-- The register of keys. Its primary key is the claim: of all concurrent submits of a key it lets one through. A second key of an
-- operation that was reused (an alias) has its own fingerprint.
create table idempotency_keys (
  account_id text not null,
  idempotency_key text not null,
  operation_id text not null references operations deferrable initially deferred,
  kind_version integer not null,
  fingerprint text not null check (fingerprint ~ '^[0-9a-f]{64}$'),
  principal_id text not null references principals,
  created_at timestamptz not null,
  primary key (account_id, idempotency_key)
);
create index idempotency_keys_by_operation on idempotency_keys (operation_id);

-- Uniqueness across keys. A row lives as long as the operation may have acted.
create table business_keys (
  account_id text not null,
  kind text not null,
  business_key text not null,
  operation_id text not null references operations deferrable initially deferred,
  primary key (account_id, kind, business_key)
);
create index business_keys_by_operation on business_keys (operation_id);

-- Operations that act on an earlier one, with the amount each holds of it. A row lives as long as the operation may have acted, so an
-- unknown refund keeps its amount. Sums are taken under a lock on the target's row.
create table target_claims (
  operation_id text primary key references operations deferrable initially deferred,
  target_operation_id text not null references operations,
  amount_minor bigint not null check (amount_minor > 0)
);
create index target_claims_by_target on target_claims (target_operation_id);

-- Intents: a row is committed before each send, and it is the fence. One number is sent at most once.
create table attempts (
  operation_id text not null references operations,
  number integer not null check (number > 0),
  purpose text not null check (purpose in ('dispatch', 'resend')),
  request_body text not null,
  started_at timestamptz not null,
  ended_at timestamptz,
  outcome text check (outcome in ('succeeded', 'failed', 'pending', 'unknown', 'not_sent')),
  error jsonb,
  worker text not null,
  primary key (operation_id, number)
);

-- What providers said: answers to writes, lookups, and stored bytes that were withdrawn. Append-only.
create table evidence (
  evidence_id bigint generated always as identity primary key,
  operation_id text not null references operations,
  type text not null check (type in ('write_answer', 'lookup', 'event', 'withdrawn_response')),
  attempt integer,
  verdict text not null,
  detail jsonb not null,
  at timestamptz not null
);
create index evidence_by_operation on evidence (operation_id, evidence_id);

-- What providers told by themselves, once per object and state: some senders give each emission a new id.
create table provider_events (
  connection text not null,
  reference text not null,
  state text not null check (state in ('done', 'pending', 'failed')),
  of_earlier_attempt boolean not null,
  event_id text not null,
  operation_id text not null references operations,
  happened_at timestamptz not null,
  received_at timestamptz not null,
  primary key (connection, reference, state, of_earlier_attempt)
);

create table approvals (
  approval_id text primary key,
  operation_id text not null references operations,
  fingerprint text not null,
  status text not null check (status in ('pending', 'approved', 'rejected', 'expired', 'void')),
  reason text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create unique index approvals_one_open on approvals (operation_id) where status = 'pending';
create index approvals_by_operation on approvals (operation_id);

-- Written in the transaction of each change. `sequence` is given by the sealer, later and in batches.
create table audit_events (
  event_id bigint generated always as identity primary key,
  account_id text not null,
  operation_id text references operations,
  type text not null check (type in (
    'requested', 'claimed', 'approval_requested', 'approval_decided', 'intent', 'sent',
    'provider_answer', 'lookup', 'transition', 'replayed', 'refused', 'resolved')),
  at timestamptz not null,
  principal_id text,
  agent_run text,
  route text,
  idempotency_key text,
  fingerprint text,
  from_state text,
  to_state text,
  response_sha256 text,
  provider_reference text,
  detail jsonb,
  sequence bigint
);
create index audit_events_by_operation on audit_events (operation_id, event_id);
create index audit_events_unsealed on audit_events (account_id, event_id) where sequence is null;

-- An operator's pause of a connection or halt of everything; '*' stands for all accounts or all connections.
create table holds (
  account_id text not null,
  connection text not null,
  principal_id text not null references principals,
  held_at timestamptz not null,
  primary key (account_id, connection)
);

-- What must be told to the engine. Written with the claim, deleted when delivered, so the table stays small.
create table outbox_messages (
  message_id bigint generated always as identity primary key,
  operation_id text not null references operations,
  type text not null check (type in ('start', 'wake', 'look')),
  deliveries integer not null default 0,
  next_delivery_at timestamptz not null,
  last_error text
);
create index outbox_due on outbox_messages (next_delivery_at);
create index outbox_by_operation on outbox_messages (operation_id);

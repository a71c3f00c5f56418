-- What the policy said of an operation, and the sums that its ceilings count.

alter table operations
  -- {"policy_version", "verdict", "rules", "reasons", "approval"}: names and sentences of the policy file, nothing of a client's.
  add column policy_decision jsonb,
  add column policy_version text generated always as (policy_decision ->> 'policy_version') stored;

-- One row for each operation that a ceiling counted at its claim. It holds its amount until the operation certainly did nothing; one that
-- is reopened takes it back. Sums are taken under advisory locks, one for each agent, destination or account.
create table ceiling_reservations (
  operation_id text primary key references operations deferrable initially deferred,
  account_id text not null,
  -- Of the claim, UTC.
  day date not null,
  kind text not null,
  agent_id text not null,
  -- '' where the command names none.
  destination text not null,
  currency text not null,
  amount_minor bigint not null check (amount_minor > 0),
  holds boolean not null default true
);
create index ceiling_reservations_by_day on ceiling_reservations (account_id, day, currency);

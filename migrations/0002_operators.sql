-- What people decide about operations that machines could not settle.

-- The person who settled it, null where evidence of the provider did. It stays when such an operation is reopened: from then on only
-- people settle it.
alter table operations add column resolved_by text references principals;

-- The operator's queue. Operations on the ordinary path never enter this index.
create index operations_to_decide on operations (account_id, created_at, operation_id)
  where status in ('UNKNOWN', 'RECONCILING', 'NEEDS_REVIEW');

-- The first of two equal resolutions that large operations need; each owner has at most one. It counts for as long as the operation
-- stays open: one that settled and was reopened is decided anew.
create table resolution_proposals (
  operation_id text not null references operations,
  owner text not null,
  principal_id text not null references principals,
  outcome text not null check (outcome in ('succeeded', 'failed')),
  provider_reference text,
  proposed_at timestamptz not null,
  primary key (operation_id, owner)
);

-- What a person gave as evidence is kept beside what providers said.
alter table evidence drop constraint evidence_type_check;
alter table evidence add constraint evidence_type_check
  check (type in ('write_answer', 'lookup', 'event', 'withdrawn_response', 'person'));

-- Who may act, where their word comes from, and who has changed that.

alter table principals
  add column created_at timestamptz not null default holdfast_now(),
  -- Refused whatever credential it shows, and what it has submitted is not sent any more.
  add column disabled_at timestamptz,
  -- The identity provider whose tokens it uses; null: it uses API keys. Nobody uses both: what one has lost, the other would keep.
  add column issuer text,
  -- When the newest of its tokens was issued: an older one never brings back a role that was taken.
  add column claims_issued_at timestamptz,
  add constraint principals_of_an_issuer check ((issuer is null) = (claims_issued_at is null));

create index principals_by_account on principals (account_id, principal_id);
create index api_keys_by_principal on api_keys (principal_id, created_at, key_id);

-- The audit's closed list of types has none for this. Append-only by use, written in the transaction of the change.
create table administration_log (
  entry_id bigint generated always as identity primary key,
  account_id text not null,
  at timestamptz not null default holdfast_now(),
  -- Null: somebody with access to the database, by the offline command.
  by_principal text references principals,
  action text not null check (action in (
    'principal_created', 'principal_disabled', 'principal_enabled',
    'key_created', 'key_rotated', 'key_revoked', 'grant_given', 'grant_taken')),
  principal_id text not null references principals,
  -- The key, or the kind of a grant.
  subject text
);
create index administration_log_by_account on administration_log (account_id, entry_id);

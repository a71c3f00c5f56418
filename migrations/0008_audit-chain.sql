-- The audit as a chain: what each sealed event was hashed as, the signed heads, and where a chain begins whose oldest entries are gone.

alter table audit_events
  -- The hashed bytes as they are: what is exported and proves something. The columns beside it are for finding.
  add column entry text,
  add column hash text,
  add constraint audit_events_sealed_whole
    check ((sequence is null) = (entry is null) and (sequence is null) = (hash is null));

-- In the order in which they are sealed.
drop index audit_events_unsealed;
create index audit_events_unsealed on audit_events (account_id, xid, event_id) where sequence is null;
create unique index audit_events_sealed on audit_events (account_id, sequence) where sequence is not null;

-- Against mistakes of ours. Whoever may change the table may drop this as well: that is what the exported heads are for.
create function refuse_change_of_sealed() returns trigger language plpgsql as
$$ begin raise exception 'a sealed audit event is never changed'; end $$;
create trigger audit_events_sealed_stay before update on audit_events
  for each row when (old.sequence is not null) execute function refuse_change_of_sealed();

-- One for each sealed batch: the newest one speaks for the whole chain, the older ones prove an entry with few digests.
create table audit_heads (
  account_id text not null,
  sequence bigint not null,
  head jsonb not null,
  primary key (account_id, sequence)
);

-- Where retention has removed the oldest entries: the signed statement of how far, and the hash that the rest builds on.
create table audit_checkpoints (
  account_id text primary key,
  through_sequence bigint not null,
  checkpoint jsonb not null
);

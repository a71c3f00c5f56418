-- Reading back: lists of operations, what belongs to an operation, and audit events in an order that misses none.

-- Lists go newest first. Without a filter, and with filters that most rows pass, this is the order in which rows are read.
create index operations_by_account on operations (account_id, created_at, operation_id);

-- Most operations succeed; those that did not are rare and looked for.
create index operations_not_succeeded on operations (account_id, status, created_at, operation_id)
  where status <> 'SUCCEEDED';

-- Digests, because an index row has no room for the longest business key.
create index operations_by_business_key on operations (account_id, md5(business_key), created_at, operation_id)
  where business_key is not null;
create index operations_by_customer on operations (account_id, md5(command ->> 'customer_id'), created_at, operation_id)
  where command ->> 'customer_id' is not null;

-- Also finds those that have given back what they held of their target.
create index operations_by_target on operations ((plan #>> '{target,operation_id}'), created_at, operation_id)
  where plan #>> '{target,operation_id}' is not null;

-- Event ids are given before the commit, so a reader that goes by them would pass over events that are committed late. By
-- transaction id, and only up to the oldest transaction that still runs, nothing can appear behind a reader.
alter table audit_events add column xid xid8 not null default pg_current_xact_id();
create index audit_events_in_order on audit_events (account_id, xid, event_id);

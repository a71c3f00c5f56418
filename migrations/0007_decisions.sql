-- Decisions reach the engine like everything else that it must be told: by a message that stands beside what it tells of.

alter table outbox_messages drop constraint outbox_messages_type_check;
alter table outbox_messages add constraint outbox_messages_type_check
  check (type in ('start', 'wake', 'look', 'decide'));

-- The desk's list, newest first: what waits for a decision, and everything.
create index approvals_in_order on approvals (created_at, approval_id);
create index approvals_to_decide on approvals (created_at, approval_id) where status = 'pending';

-- People decide: what an approval demands, what its approvers saw, and each one's signed word.

alter table approvals
  -- The first is asked at the claim. One that was overtaken before the first intent is void, and the next shows what has changed.
  add column round integer not null default 1,
  add column quorum integer not null default 1 check (quorum > 0),
  -- {"principals": [...], "owners": [...]}; null: every approver of the account.
  add column approvers jsonb,
  add column own_requests boolean not null default false,
  add column policy_version text,
  -- What the provider said of the target when the approval was asked for; null where the kind has no preconditions or none were read yet.
  add column preconditions jsonb,
  add column preconditions_read_at timestamptz,
  -- For the rounds after the first: what has changed since the one before, readable.
  add column difference jsonb,
  add column decided_at timestamptz,
  -- An approval is used by one first intent, in its transaction.
  add column consumed_at timestamptz;

-- The newest round is the one that counts.
drop index approvals_by_operation;
create unique index approvals_by_round on approvals (operation_id, round);

-- One word for each owner. `signed` is the decision as the desk signed it: without it no row here lets anything be sent.
create table approval_votes (
  approval_id text not null references approvals,
  owner text not null,
  principal_id text not null references principals,
  decision text not null check (decision in ('approved', 'rejected')),
  decided_at timestamptz not null,
  -- Somebody's words: shown to people, never in the audit, gone with erasure.
  comment text,
  signed jsonb not null,
  primary key (approval_id, owner)
);

-- Retention and erasure: what is somebody's words or names somebody goes, and the register keeps what it needs to stay right.

alter table operations
  -- Since when a settled operation holds words: its settling, or what was written down about it after they had been taken. Null while open.
  add column words_at timestamptz,
  -- When retention took them, and when an operator had them taken. Both may be older than `words_at`.
  add column expired_at timestamptz,
  add column erased_at timestamptz;
update operations set words_at = settled_at where settled_at is not null;

-- Null: the bytes are gone. Nothing is sent or compared by them any more.
alter table attempts alter column request_body drop not null;

-- Settled operations that still hold words, the oldest first. A row enters it once and leaves it once, so it holds the last month only.
create index operations_to_reduce on operations (words_at)
  where words_at is not null and coalesce(greatest(expired_at, erased_at) < words_at, true);

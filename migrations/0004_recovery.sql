-- Messages that can't be delivered are set aside, where a person finds them, instead of being tried for ever.

alter table outbox_messages
  add column enqueued_at timestamptz not null default holdfast_now(),
  -- Deliveries that failed although the engine answered others: an outage is nobody's fault and isn't counted.
  add column failures integer not null default 0,
  add column parked_at timestamptz;

drop index outbox_due;
create index outbox_due on outbox_messages (next_delivery_at) where parked_at is null;
create index outbox_parked on outbox_messages (parked_at) where parked_at is not null;
create index outbox_age on outbox_messages (enqueued_at) where parked_at is null;

// The sealer's statements, in one transaction a batch. Rows are found by their missing sequence, never by "id greater than the last":
// an id is given before its transaction commits. Below the oldest running transaction nothing can still appear.
import type { AuditCheckpoint, AuditHead } from '../domain/audit-chain.ts';
import { AUDIT_ROW, type AuditRow } from './audit-reading.store.ts';
import type { Queryable } from './pool.ts';

/** True where no other sealer is at work; the lock ends with the transaction. */
export async function lockSealing(db: Queryable): Promise<boolean> {
  const { rows } = await db.query(
    `select pg_try_advisory_xact_lock(hashtextextended('holdfast audit sealer', 0)) as locked`,
  );
  return rows[0].locked;
}

/** Accounts with events that wait to be sealed. One step per account, however many events wait. */
export async function accountsToSeal(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ account: string }>(
    `with recursive step as (
       (select account_id as account from audit_events where sequence is null
        order by account_id limit 1)
       union all
       select (select account_id from audit_events
         where sequence is null and account_id > step.account order by account_id limit 1)
       from step where step.account is not null)
     select account from step where account is not null`,
  );
  return rows.map(({ account }) => account);
}

/** Accounts that have a head. */
export async function sealedAccounts(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ account: string }>(
    'select distinct account_id as account from audit_heads',
  );
  return rows.map(({ account }) => account);
}

/** The oldest events of an account that have no place in its chain yet, in the order in which they get one. */
export async function unsealedEvents(
  db: Queryable,
  accountId: string,
  limit: number,
): Promise<AuditRow[]> {
  const { rows } = await db.query<AuditRow>(
    `select ${AUDIT_ROW} from audit_events
     where account_id = $1 and sequence is null and xid < pg_snapshot_xmin(pg_current_snapshot())
     order by audit_events.xid, event_id limit $2`,
    [accountId, limit],
  );
  return rows;
}

/** An entry in its place. */
export interface SealedEntry {
  readonly sequence: number;
  /** The hashed bytes. */
  readonly entry: string;
  readonly hash: string;
}

export async function storeSealed(
  db: Queryable,
  sealed: readonly (SealedEntry & { readonly eventId: string })[],
): Promise<void> {
  await db.query(
    `update audit_events e set sequence = s.sequence, entry = s.entry, hash = s.hash
     from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[])
       as s (event_id, sequence, entry, hash)
     where e.event_id = s.event_id and e.sequence is null`,
    [
      sealed.map((one) => one.eventId),
      sealed.map((one) => one.sequence),
      sealed.map((one) => one.entry),
      sealed.map((one) => one.hash),
    ],
  );
}

/** At most `limit` entries of a chain after a sequence, in order. */
export async function readSealed(
  db: Queryable,
  accountId: string,
  after: number,
  limit: number,
): Promise<SealedEntry[]> {
  const { rows } = await db.query<SealedEntry & { readonly sequence: string }>(
    `select sequence, entry, hash from audit_events
     where account_id = $1 and sequence > $2 order by sequence limit $3`,
    [accountId, after, limit],
  );
  return rows.map((row) => ({ ...row, sequence: Number(row.sequence) }));
}

/** The newest entries of a chain, newest first. */
export async function chainTip(
  db: Queryable,
  accountId: string,
  limit: number,
): Promise<SealedEntry[]> {
  const { rows } = await db.query<SealedEntry & { readonly sequence: string }>(
    `select sequence, entry, hash from audit_events
     where account_id = $1 and sequence is not null order by sequence desc limit $2`,
    [accountId, limit],
  );
  return rows.map((row) => ({ ...row, sequence: Number(row.sequence) }));
}

export async function storeHead(db: Queryable, head: AuditHead): Promise<void> {
  await db.query('insert into audit_heads (account_id, sequence, head) values ($1, $2, $3)', [
    head.account_id,
    head.sequence,
    JSON.stringify(head),
  ]);
}

/** The head that speaks for the whole chain; undefined where nothing is sealed yet. */
export async function newestHead(db: Queryable, accountId: string): Promise<AuditHead | undefined> {
  const { rows } = await db.query<{ head: AuditHead }>(
    'select head from audit_heads where account_id = $1 order by sequence desc limit 1',
    [accountId],
  );
  return rows[0]?.head;
}

/** At most `limit` heads at or after a sequence, in order: the first is the one that seals the entry there. */
export async function headsFrom(
  db: Queryable,
  accountId: string,
  sequence: number,
  limit: number,
): Promise<AuditHead[]> {
  const { rows } = await db.query<{ head: AuditHead }>(
    `select head from audit_heads where account_id = $1 and sequence >= $2
     order by sequence limit $3`,
    [accountId, sequence, limit],
  );
  return rows.map(({ head }) => head);
}

/** Where the stored chain begins, if not with its first entry. */
export async function readCheckpoint(
  db: Queryable,
  accountId: string,
): Promise<AuditCheckpoint | undefined> {
  const { rows } = await db.query<{ checkpoint: AuditCheckpoint }>(
    'select checkpoint from audit_checkpoints where account_id = $1',
    [accountId],
  );
  return rows[0]?.checkpoint;
}

/** The database clock (RFC 3339). */
export async function databaseTime(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ now: string }>('select holdfast_now() as now');
  return rows[0]?.now ?? '';
}

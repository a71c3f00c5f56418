// Holds: an operator's pause of a connection or halt of everything. New intents are not committed while one applies; what is in
// flight is not touched. '*' stands for every account or every connection.
import type { Pool, Queryable } from './pool.ts';

export interface Hold {
  /** An account, or '*'. */
  readonly accountId: string;
  /** A connection's name, or '*'. */
  readonly connection: string;
}

/** Sets a hold; setting it again changes nothing. */
export async function hold(pool: Pool, { accountId, connection }: Hold, by: string): Promise<void> {
  await pool.query(
    `insert into holds (account_id, connection, principal_id, held_at)
     values ($1, $2, $3, holdfast_now()) on conflict do nothing`,
    [accountId, connection, by],
  );
}

/** Lifts exactly this hold; another that covers the same operations stays. */
export async function lift(pool: Pool, { accountId, connection }: Hold): Promise<void> {
  await pool.query('delete from holds where account_id = $1 and connection = $2', [
    accountId,
    connection,
  ]);
}

/** SQL condition over `operations o`: some hold applies to it. */
export const IS_HELD = `exists (
  select 1 from holds h
  where h.account_id in (o.account_id, '*') and h.connection in (o.connection, '*'))`;

/** True while some hold applies to the operation. The intent asks again, in its own transaction. */
export async function isHeld(db: Queryable, operationId: string): Promise<boolean> {
  const { rows } = await db.query<{ held: boolean }>(
    `select ${IS_HELD} as held from operations o where operation_id = $1`,
    [operationId],
  );
  return rows[0]?.held ?? false;
}

/** A hold as the people of one account see it. */
export interface ActiveHold {
  readonly scope: 'account' | 'all_accounts';
  /** Null: every connection. */
  readonly connection: string | null;
  readonly since: string;
  /** Who set it; null where that is somebody of another account. */
  readonly principalId: string | null;
}

/** Holds that apply to this account, on these connections ('*': those on every connection); all of them without a list. */
export async function activeHolds(
  db: Queryable,
  accountId: string,
  connections?: readonly string[],
): Promise<ActiveHold[]> {
  const { rows } = await db.query<ActiveHold>(
    `select case h.account_id when '*' then 'all_accounts' else 'account' end as scope,
       nullif(h.connection, '*') as connection, h.held_at as since,
       case p.account_id when $1 then p.principal_id end as "principalId"
     from holds h join principals p using (principal_id)
     where h.account_id in ($1, '*') and ($2::text[] is null or h.connection = any ($2))
     order by h.held_at, h.account_id, h.connection`,
    [accountId, connections],
  );
  return rows;
}

// Holds: an operator's pause of a connection or halt of everything. New intents are not committed while one applies; what is in
// flight is not touched. '*' stands for every account or every connection.
import type { Pool } from './pool.ts';

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

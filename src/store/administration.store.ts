// Changes of who may act: one at a time in an account, written down, and undone where they would lock everybody out.
import type { Pool, Queryable } from './pool.ts';
import { inTransaction } from './transaction.ts';

type AdministrationAction =
  | 'principal_created'
  | 'principal_disabled'
  | 'principal_enabled'
  | 'key_created'
  | 'key_rotated'
  | 'key_revoked'
  | 'grant_given'
  | 'grant_taken';

export interface AdministrationEntry {
  readonly accountId: string;
  /** Null: the offline command. */
  readonly by: string | null;
  readonly action: AdministrationAction;
  readonly principalId: string;
  /** Id of the key, or kind of the grant. */
  readonly subject?: string;
}

/** Appends to the log; in the transaction of the change. */
export async function logAdministration(db: Queryable, entry: AdministrationEntry): Promise<void> {
  const { accountId, by, action, principalId, subject } = entry;
  await db.query(
    `insert into administration_log (account_id, by_principal, action, principal_id, subject)
     values ($1, $2, $3, $4, $5)`,
    [accountId, by, action, principalId, subject],
  );
}

/** An account, and the identity provider whose admins count as reachable; null where none is configured. */
export interface Administered {
  readonly accountId: string;
  readonly issuer: string | null;
}

class NoAdminLeft extends Error {}

/** Runs one change of an account. `no_admin_left`: it was undone, because nobody could have changed anything afterwards. */
export async function administer<T>(
  pool: Pool,
  { accountId, issuer }: Administered,
  change: (db: Queryable) => Promise<T>,
): Promise<T | 'no_admin_left'> {
  try {
    return await inTransaction(pool, async (db) => {
      await lockAdministration(db, accountId);
      const before = await adminsLeft(db, accountId, issuer);
      const result = await change(db);
      const after = await adminsLeft(db, accountId, issuer);
      // One whose last key ends tomorrow is as good as locked out, where that is this change's doing.
      if (!after.now || (before.lasting && !after.lasting)) throw new NoAdminLeft();
      return result;
    });
  } catch (error) {
    if (error instanceof NoAdminLeft) return 'no_admin_left';
    throw error;
  }
}

/** Two admins who lock each other out at once must come one after the other. Held to the end of the transaction. */
export async function lockAdministration(db: Queryable, accountId: string): Promise<void> {
  await db.query(`select pg_advisory_xact_lock(hashtext('administration'), hashtext($1))`, [
    accountId,
  ]);
}

/** A key that ends sooner is no way back in: nobody may be there before it does. */
const LASTING = '1 day';

interface AdminsLeft {
  readonly now: boolean;
  readonly lasting: boolean;
}

/** Whether an admin can act now, and after `LASTING`: not disabled, and with a key or a row from the provider that is configured. */
async function adminsLeft(
  db: Queryable,
  accountId: string,
  issuer: string | null,
): Promise<AdminsLeft> {
  const { rows } = await db.query<AdminsLeft>(
    `select coalesce(bool_or(ends is null or ends > holdfast_now()), false) as now,
       coalesce(bool_or(ends is null or ends > holdfast_now() + interval '${LASTING}'), false) as lasting
     from (
       select k.expires_at as ends from principals p join api_keys k using (principal_id)
       where p.account_id = $1 and 'admin' = any (p.roles) and p.disabled_at is null
         and p.issuer is null and k.revoked_at is null
       union all
       select null from principals p
       where p.account_id = $1 and 'admin' = any (p.roles) and p.disabled_at is null
         and p.issuer = $2) keys`,
    [accountId, issuer],
  );
  return rows[0] ?? { now: false, lasting: false };
}

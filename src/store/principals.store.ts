// Who is asking: principals, their keys (stored as hashes) and their grants.
import { sha256Bytes } from '../domain/sha256.ts';
import type { Pool, Queryable } from './pool.ts';

export type Role = 'agent' | 'approver' | 'operator' | 'auditor' | 'admin';

export interface Principal {
  readonly principalId: string;
  readonly accountId: string;
  readonly owner: string;
  readonly roles: readonly Role[];
  /** Kinds an agent may submit and read. */
  readonly grants: readonly string[];
}

/** `last_used_at` is for people who tidy up keys; a write per request would cost more than the minute is worth. */
const LAST_USE_RESOLUTION = '1 minute';

/** The principal of a secret; undefined where it is unknown, expired or revoked. */
export async function findBySecret(pool: Pool, secret: string): Promise<Principal | undefined> {
  const { rows } = await pool.query(
    `select p.*, k.key_id,
       coalesce(k.last_used_at < holdfast_now() - interval '${LAST_USE_RESOLUTION}', true) as note_use,
       array(select kind from grants g where g.principal_id = p.principal_id) as grants
     from api_keys k join principals p using (principal_id)
     where k.secret_sha256 = $1 and k.revoked_at is null
       and (k.expires_at is null or k.expires_at > holdfast_now())`,
    [sha256Bytes(secret)],
  );
  const [row] = rows;
  if (!row) return undefined;
  if (row.note_use) await noteUse(pool, row.key_id);
  return {
    principalId: row.principal_id,
    accountId: row.account_id,
    owner: row.owner,
    roles: row.roles,
    grants: row.grants,
  };
}

async function noteUse(db: Queryable, keyId: string): Promise<void> {
  await db.query('update api_keys set last_used_at = holdfast_now() where key_id = $1', [keyId]);
}

export interface NewPrincipal extends Principal {
  readonly keyId: string;
  readonly secret: string;
}

/** Creates principals with a key each; what exists already is left as it is. */
export async function addPrincipals(
  db: Queryable,
  principals: readonly NewPrincipal[],
): Promise<void> {
  for (const one of principals) {
    await db.query(
      `insert into principals (principal_id, account_id, owner, roles) values ($1, $2, $3, $4)
       on conflict do nothing`,
      [one.principalId, one.accountId, one.owner, one.roles],
    );
    await db.query(
      `insert into api_keys (key_id, principal_id, secret_sha256) values ($1, $2, $3)
       on conflict do nothing`,
      [one.keyId, one.principalId, sha256Bytes(one.secret)],
    );
    await db.query(
      `insert into grants (principal_id, kind) select $1, unnest($2::text[]) on conflict do nothing`,
      [one.principalId, one.grants],
    );
  }
}

/** Two first starts at once must not write two sets of credentials; held to the end of the transaction. */
export async function lockFirstStart(db: Queryable): Promise<void> {
  await db.query(`select pg_advisory_xact_lock(hashtext('holdfast first credentials'))`);
}

/** True where nobody has been created yet: only then are first credentials written. */
export async function hasNoPrincipals(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ none: boolean }>(
    'select not exists (select 1 from principals) as none',
  );
  return rows[0]?.none === true;
}

/** Random per database: it keeps provider tokens of different installations apart. */
export async function installationId(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ installation_id: string }>(
    'select installation_id from installation',
  );
  if (!rows[0]) throw new Error('the installation row is missing');
  return rows[0].installation_id;
}

/** Accounts that somebody may act for. */
export async function accountsInUse(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ account_id: string }>(
    `select distinct account_id from principals where 'agent' = any (roles)`,
  );
  return rows.map((row) => row.account_id);
}

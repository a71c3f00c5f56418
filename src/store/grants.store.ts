// Grants: which kinds an agent may submit and read. Checked at submit and again before each send.
import type { Pool, Queryable } from './pool.ts';
import type { Role } from './principals.store.ts';

export interface GrantChange {
  readonly accountId: string;
  readonly principalId: string;
  readonly kind: string;
}

export type GrantResult =
  | { readonly status: 'not_found' }
  /** Only agents hold grants. */
  | { readonly status: 'not_an_agent' }
  | { readonly status: 'done'; readonly grants: readonly string[] };

/** Gives a kind to an agent of this account; again changes nothing. */
export async function grantKind(pool: Pool, change: GrantChange): Promise<GrantResult> {
  return changeGrant(
    pool,
    change,
    'insert into grants (principal_id, kind) values ($1, $2) on conflict do nothing',
  );
}

/** Takes a kind from an agent of this account; again changes nothing. */
export async function revokeKind(pool: Pool, change: GrantChange): Promise<GrantResult> {
  return changeGrant(pool, change, 'delete from grants where principal_id = $1 and kind = $2');
}

/** Roles and account of a principal never change, so they are read without a lock. */
async function changeGrant(
  pool: Pool,
  { accountId, principalId, kind }: GrantChange,
  statement: string,
): Promise<GrantResult> {
  const { rows } = await pool.query<{ roles: readonly Role[] }>(
    'select roles from principals where principal_id = $1 and account_id = $2',
    [principalId, accountId],
  );
  const [found] = rows;
  if (!found) return { status: 'not_found' };
  if (!found.roles.includes('agent')) return { status: 'not_an_agent' };
  await pool.query(statement, [principalId, kind]);
  return { status: 'done', grants: await grantsOf(pool, principalId) };
}

async function grantsOf(db: Queryable, principalId: string): Promise<string[]> {
  const { rows } = await db.query<{ kind: string }>(
    'select kind from grants where principal_id = $1 order by kind',
    [principalId],
  );
  return rows.map((row) => row.kind);
}

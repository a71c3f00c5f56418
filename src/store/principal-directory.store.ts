// The principals of an account as its admins see and change them.
import type { Role } from '../domain/principal.ts';
import type { Pool, Queryable } from './pool.ts';

/** A principal with what an admin has to know of it. */
export interface ListedPrincipal {
  readonly principalId: string;
  readonly owner: string;
  readonly roles: readonly Role[];
  readonly grants: readonly string[];
  readonly signsInBy: 'api_key' | 'oidc';
  readonly createdAt: string;
  readonly disabledAt: string | null;
}

const LISTED = `p.principal_id as "principalId", p.owner, p.roles,
  array(select g.kind from grants g where g.principal_id = p.principal_id order by g.kind) as grants,
  case when p.issuer is null then 'api_key' else 'oidc' end as "signsInBy",
  p.created_at as "createdAt", p.disabled_at as "disabledAt"`;

/** At most `limit` principals of the account, by id, after the one given. */
export async function listPrincipals(
  pool: Pool,
  accountId: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<ListedPrincipal[]> {
  const { rows } = await pool.query<ListedPrincipal>(
    `select ${LISTED} from principals p where p.account_id = $1 and p.principal_id > $2
     order by p.principal_id limit $3`,
    [accountId, after, limit],
  );
  return rows;
}

/** Undefined for one of another account as for one that never was. */
export async function readPrincipal(
  db: Queryable,
  accountId: string,
  principalId: string,
): Promise<ListedPrincipal | undefined> {
  const { rows } = await db.query<ListedPrincipal>(
    `select ${LISTED} from principals p where p.account_id = $1 and p.principal_id = $2`,
    [accountId, principalId],
  );
  return rows[0];
}

export interface PrincipalToCreate {
  readonly principalId: string;
  readonly accountId: string;
  readonly owner: string;
  readonly roles: readonly Role[];
  readonly grants: readonly string[];
}

/** False where there is one of this id. */
export async function createPrincipal(db: Queryable, one: PrincipalToCreate): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into principals (principal_id, account_id, owner, roles) values ($1, $2, $3, $4)
     on conflict do nothing`,
    [one.principalId, one.accountId, one.owner, one.roles],
  );
  if (rowCount === 0) return false;
  await db.query('insert into grants (principal_id, kind) select distinct $1, unnest($2::text[])', [
    one.principalId,
    one.grants,
  ]);
  return true;
}

/** True where that changed something: its first time stays. */
export async function setDisabled(
  db: Queryable,
  principalId: string,
  disabled: boolean,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update principals set disabled_at = case when $2 then holdfast_now() end
     where principal_id = $1 and (disabled_at is not null) <> $2`,
    [principalId, disabled],
  );
  return rowCount === 1;
}

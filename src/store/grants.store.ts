// Grants: which kinds an agent may submit and read. Checked at submit and again before each send.
import type { Queryable } from './pool.ts';
import type { Role } from './principals.store.ts';

/** SQL condition over `operations o`: its submitter may still have this done. */
export const IS_GRANTED = `exists (
  select 1 from grants g join principals p using (principal_id)
  where g.principal_id = o.agent_id and g.kind = o.kind and p.disabled_at is null)`;

export interface GrantChange {
  readonly accountId: string;
  readonly principalId: string;
  readonly kind: string;
}

export type GrantResult =
  | { readonly status: 'not_found' }
  /** Only agents hold grants. */
  | { readonly status: 'not_an_agent' }
  | {
      readonly status: 'done';
      readonly grants: readonly string[];
      /** False where it was so before. */
      readonly changed: boolean;
    };

/** Gives a kind to an agent of this account; again changes nothing. */
export async function grantKind(db: Queryable, change: GrantChange): Promise<GrantResult> {
  return changeGrant(
    db,
    change,
    'insert into grants (principal_id, kind) values ($1, $2) on conflict do nothing',
  );
}

/** Takes a kind from an agent of this account; again changes nothing. */
export async function revokeKind(db: Queryable, change: GrantChange): Promise<GrantResult> {
  return changeGrant(db, change, 'delete from grants where principal_id = $1 and kind = $2');
}

/** The account of a principal never changes, nor whether it is an agent, so they are read without a lock. */
async function changeGrant(
  db: Queryable,
  { accountId, principalId, kind }: GrantChange,
  statement: string,
): Promise<GrantResult> {
  const { rows } = await db.query<{ roles: readonly Role[] }>(
    'select roles from principals where principal_id = $1 and account_id = $2',
    [principalId, accountId],
  );
  const [found] = rows;
  if (!found) return { status: 'not_found' };
  if (!found.roles.includes('agent')) return { status: 'not_an_agent' };
  const { rowCount } = await db.query(statement, [principalId, kind]);
  return { status: 'done', grants: await grantsOf(db, principalId), changed: rowCount === 1 };
}

async function grantsOf(db: Queryable, principalId: string): Promise<string[]> {
  const { rows } = await db.query<{ kind: string }>(
    'select kind from grants where principal_id = $1 order by kind',
    [principalId],
  );
  return rows.map((row) => row.kind);
}

// The use cases of an admin: who may act in the own account. What another account has is as good as absent.
import { connectionProblems } from '../domain/connection.ts';
import { HoldfastError } from '../domain/operation-error.ts';
import type { Role } from '../domain/principal.ts';
import { KINDS } from '../operations/registry.ts';
import {
  administer,
  logAdministration,
  type AdministrationEntry,
} from '../store/administration.store.ts';
import {
  createPrincipal,
  listPrincipals,
  readPrincipal,
  setDisabled,
  type ListedPrincipal,
} from '../store/principal-directory.store.ts';
import type { Queryable } from '../store/pool.ts';
import type { Principal } from '../store/principals.store.ts';
import type { ApiDependencies } from './dependencies.ts';

type Deps = Pick<ApiDependencies, 'pool' | 'issuer' | 'logger'>;

export interface NewPrincipalWish {
  readonly name: string;
  readonly owner: string;
  readonly roles: readonly Role[];
  readonly grants: readonly string[];
}

/** Its id is the account and the name, so that no account learns of another's names. */
export async function addPrincipal(
  deps: Deps & Pick<ApiDependencies, 'connections'>,
  admin: Principal,
  { name, owner, roles, grants }: NewPrincipalWish,
): Promise<ListedPrincipal> {
  const { accountId } = admin;
  const isAgent = roles.includes('agent');
  if (isAgent && connectionProblems(deps.connections, [accountId], KINDS).length > 0) {
    throw new HoldfastError('wrong_state', 'No connection serves this account: agents need one.');
  }
  const principalId = `${accountId}.${name}`;
  return change(deps, admin, async (db, log) => {
    const one = { principalId, accountId, owner, roles: [...new Set(roles)], grants };
    if (!(await createPrincipal(db, one))) {
      throw new HoldfastError('wrong_state', 'There is a principal of this name.');
    }
    await log({ action: 'principal_created', principalId });
    return principalIn(db, accountId, principalId);
  });
}

/** Refuses or takes again whatever credentials a principal has; again changes nothing. */
export async function changeDisabled(
  deps: Deps,
  admin: Principal,
  principalId: string,
  disabled: boolean,
): Promise<ListedPrincipal> {
  return change(deps, admin, async (db, log) => {
    await principalIn(db, admin.accountId, principalId);
    const action = disabled ? 'principal_disabled' : 'principal_enabled';
    if (await setDisabled(db, principalId, disabled)) await log({ action, principalId });
    return principalIn(db, admin.accountId, principalId);
  });
}

export interface PrincipalsPage {
  readonly principals: readonly ListedPrincipal[];
  /** Id of the last one shown; null on the last page. */
  readonly next: string | null;
}

export async function principalsPage(
  { pool }: Pick<ApiDependencies, 'pool'>,
  admin: Principal,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<PrincipalsPage> {
  // One more than is shown tells whether there is a next page.
  const found = await listPrincipals(pool, admin.accountId, { after, limit: limit + 1 });
  const principals = found.slice(0, limit);
  const last = principals.at(-1)?.principalId ?? null;
  return { principals, next: found.length > limit ? last : null };
}

export type LogEntry = (
  entry: Pick<AdministrationEntry, 'action' | 'principalId' | 'subject'>,
) => Promise<void>;

/** One change by an admin of its own account; `wrong_state` where nobody could administer the account afterwards. */
export async function change<T>(
  { pool, issuer, logger }: Deps,
  { accountId, principalId: by }: Principal,
  work: (db: Queryable, log: LogEntry) => Promise<T>,
): Promise<T> {
  const entries: Parameters<LogEntry>[0][] = [];
  const result = await administer(pool, { accountId, issuer }, (db) =>
    work(db, async (entry) => {
      await logAdministration(db, { ...entry, accountId, by });
      entries.push(entry);
    }),
  );
  if (result === 'no_admin_left') {
    const detail =
      'Nobody could administer this account afterwards: give another admin a key first.';
    throw new HoldfastError('wrong_state', detail);
  }
  for (const { action, principalId: principal_id, subject } of entries) {
    logger.warn({ action, principal_id, subject, by }, 'administration');
  }
  return result;
}

/** As long as an id can be, and without the one character that Postgres can't be asked about. */
const PRINCIPAL_ID = /^[^\0]{1,255}$/;

/** The principal; the same refusal for one of another account and for one that never was. */
export async function principalIn(
  db: Queryable,
  accountId: string,
  principalId: string,
): Promise<ListedPrincipal> {
  const found = PRINCIPAL_ID.test(principalId)
    ? await readPrincipal(db, accountId, principalId)
    : undefined;
  if (!found) throw new HoldfastError('not_found', 'There is no such principal.');
  return found;
}

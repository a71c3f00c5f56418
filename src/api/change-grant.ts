// The use case: an admin gives a kind to an agent of the own account, or takes it.
import { HoldfastError } from '../domain/operation-error.ts';
import { KINDS } from '../operations/registry.ts';
import { grantKind, revokeKind } from '../store/grants.store.ts';
import type { Principal } from '../store/principals.store.ts';
import type { ApiDependencies } from './dependencies.ts';

export interface GrantWish {
  readonly admin: Principal;
  readonly principalId: string;
  readonly kind: string;
  readonly action: 'grant' | 'revoke';
}

/** As long as an id can be, and without the one character that Postgres can't be asked about. */
const PRINCIPAL_ID = /^[^\0]{1,255}$/;

/** The agent's grants afterwards. */
export async function changeGrant(
  { pool, logger }: Pick<ApiDependencies, 'pool' | 'logger'>,
  { admin, principalId, kind, action }: GrantWish,
): Promise<readonly string[]> {
  if (!KINDS.includes(kind)) throw new HoldfastError('unknown_kind', 'There is no such kind.');
  if (!PRINCIPAL_ID.test(principalId)) throw noSuchPrincipal();
  const change = { accountId: admin.accountId, principalId, kind };
  const result = await (action === 'grant' ? grantKind : revokeKind)(pool, change);
  if (result.status === 'not_found') throw noSuchPrincipal();
  if (result.status === 'not_an_agent') {
    throw new HoldfastError('wrong_state', 'Only agents hold grants.');
  }
  // The contract's closed list of audit types has none for this.
  const what = { principal_id: principalId, kind, action, by: admin.principalId };
  logger.warn(what, 'grant changed');
  return result.grants;
}

/** The same answer for a principal of another account and for one that never was. */
function noSuchPrincipal(): HoldfastError {
  return new HoldfastError('not_found', 'There is no such principal.');
}

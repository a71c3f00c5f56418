// The use case: an admin gives a kind to an agent of the own account, or takes it.
import { HoldfastError } from '../domain/operation-error.ts';
import { KINDS } from '../operations/registry.ts';
import { grantKind, revokeKind } from '../store/grants.store.ts';
import type { Principal } from '../store/principals.store.ts';
import { change } from './administer-principals.ts';
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
  deps: Pick<ApiDependencies, 'pool' | 'issuer' | 'logger'>,
  { admin, principalId, kind, action }: GrantWish,
): Promise<readonly string[]> {
  if (!KINDS.includes(kind)) throw new HoldfastError('unknown_kind', 'There is no such kind.');
  if (!PRINCIPAL_ID.test(principalId)) throw noSuchPrincipal();
  return change(deps, admin, async (db, log) => {
    const wanted = { accountId: admin.accountId, principalId, kind };
    const result = await (action === 'grant' ? grantKind : revokeKind)(db, wanted);
    if (result.status === 'not_found') throw noSuchPrincipal();
    if (result.status === 'not_an_agent') {
      throw new HoldfastError('wrong_state', 'Only agents hold grants.');
    }
    const given = action === 'grant' ? 'grant_given' : 'grant_taken';
    if (result.changed) await log({ action: given, principalId, subject: kind });
    return result.grants;
  });
}

/** The same answer for a principal of another account and for one that never was. */
function noSuchPrincipal(): HoldfastError {
  return new HoldfastError('not_found', 'There is no such principal.');
}

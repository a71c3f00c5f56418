// The use cases: stop new intents of a connection or of everything, and let them go again. What is in flight is not touched.
import { HoldfastError } from '../domain/operation-error.ts';
import { activeHolds, hold, lift, type ActiveHold } from '../store/holds.store.ts';
import type { Principal } from '../store/principals.store.ts';
import type { ApiDependencies } from './dependencies.ts';
import type { Held, HoldShown } from './routes/operator-holds.contract.ts';

export interface HoldWish {
  readonly principal: Principal;
  /** Null: everything. */
  readonly connection: string | null;
  readonly action: 'hold' | 'lift';
}

/** Sets or lifts one hold, for the operator's account or for all accounts where it is an admin; answers what applies then. */
export async function changeHold(
  { pool, connections, logger }: Pick<ApiDependencies, 'pool' | 'connections' | 'logger'>,
  { principal, connection, action }: HoldWish,
): Promise<Held> {
  const accountId = principal.roles.includes('admin') ? '*' : principal.accountId;
  const served = connections.some(
    (one) => one.name === connection && (accountId === '*' || one.accounts.includes(accountId)),
  );
  if (connection !== null && !served) {
    throw new HoldfastError('not_found', 'There is no such connection.');
  }
  const wanted = { accountId, connection: connection ?? '*' };
  if (action === 'hold') await hold(pool, wanted, principal.principalId);
  else await lift(pool, wanted);
  // The contract's closed list of audit types has none for this: the row says who holds, the log who let go.
  logger.warn({ ...wanted, action, principal_id: principal.principalId }, 'hold changed');
  const covering = connection === null ? ['*'] : [connection, '*'];
  const holds = await activeHolds(pool, principal.accountId, covering);
  return { connection, held: holds.length > 0, holds: holds.map(holdShown) };
}

/** A hold as on the wire. */
export function holdShown({ scope, connection, since, principalId }: ActiveHold): HoldShown {
  return { scope, connection, since, principal_id: principalId };
}

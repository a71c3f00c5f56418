// Who may see an operation.
import type { Operation } from '../domain/operation.ts';
import type { Principal } from '../store/principals.store.ts';

/** Another account's operation, and one of a kind that an agent isn't granted, are as good as absent. */
export function mayRead(principal: Principal, operation: Operation): boolean {
  if (operation.accountId !== principal.accountId) return false;
  return !principal.roles.includes('agent') || principal.grants.includes(operation.kind);
}

// The first question about a kind: may this principal ask for it at all?
import { HoldfastError } from '../domain/operation-error.ts';
import type { ApiDependencies } from './dependencies.ts';
import { refuse, type RefusedRequest } from './refuse.ts';

/** Throws `forbidden`, audited, where the principal has no grant for the kind. */
export async function requireGrant(
  deps: Pick<ApiDependencies, 'pool'>,
  request: RefusedRequest,
): Promise<void> {
  const { principal, kind } = request;
  if (principal.grants.includes(kind)) return;
  const detail = `This principal has no grant for ${kind}.`;
  throw await refuse(deps, request, new HoldfastError('forbidden', detail));
}

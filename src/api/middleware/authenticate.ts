// Who is asking. The account comes from the credential and from nowhere else.
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { HoldfastError } from '../../domain/operation-error.ts';
import { findBySecret, type Principal, type Role } from '../../store/principals.store.ts';
import type { ApiDependencies } from '../dependencies.ts';

const BEARER = /^Bearer +([\x21-\x7e]{1,512})$/i;

/**
 * Puts the principal of an API key into `response.locals` and counts the request against its limits; everyone else is 401. Failed
 * attempts have no limit of their own: keys are 256 random bits, so there is nothing to guess; by address it would let one client lock
 * out all others behind the same proxy; and what they cost is bounded by admission, which comes first.
 */
export function authenticate({
  pool,
  rateLimits,
}: Pick<ApiDependencies, 'pool' | 'rateLimits'>): RequestHandler {
  return async (request: Request, response: Response, next: NextFunction) => {
    const [, secret] = BEARER.exec(request.get('authorization') ?? '') ?? [];
    const principal = secret === undefined ? undefined : await findBySecret(pool, secret);
    if (!principal) {
      response.set('WWW-Authenticate', 'Bearer');
      throw new HoldfastError('unauthenticated', 'Send a valid API key as a bearer token.');
    }
    response.locals['principal'] = principal;
    await rateLimits.count(principal.principalId, request.method);
    next();
  };
}

/** The principal of an authenticated request. */
export function principalOf(response: Response): Principal {
  return response.locals['principal'] as Principal;
}

/** Refuses principals that have none of the roles. */
export function requireRole(principal: Principal, roles: readonly Role[]): void {
  if (principal.roles.some((role) => roles.includes(role))) return;
  throw new HoldfastError('forbidden', `This needs one of the roles ${roles.join(', ')}.`);
}

// Who is asking. The account comes from the credential and from nowhere else.
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { HoldfastError } from '../../domain/operation-error.ts';
import {
  findCaller,
  type Caller,
  type Principal,
  type Role,
} from '../../store/principals.store.ts';
import type { ApiDependencies } from '../dependencies.ts';

const BEARER = /^Bearer +([\x21-\x7e]{1,512})$/i;

/** What a key stands for is looked up with who asks; see `callerOf`. */
export interface Prefetch {
  readonly keyOf: (request: Request) => string | null;
}

const NO_KEY: Prefetch = { keyOf: () => null };

/**
 * Puts the principal of an API key into `response.locals` and counts the request against its limits; everyone else is 401. Failed
 * attempts have no limit of their own: keys are 256 random bits, so there is nothing to guess; by address it would let one client lock
 * out all others behind the same proxy; and what they cost is bounded by admission, which comes first.
 */
export function authenticate(
  { pool, rateLimits }: Pick<ApiDependencies, 'pool' | 'rateLimits'>,
  { keyOf }: Prefetch = NO_KEY,
): RequestHandler {
  return async (request: Request, response: Response, next: NextFunction) => {
    const [credential = '', ...more] = request.headersDistinct['authorization'] ?? [];
    // Two credentials are none: whoever checked the other one meant somebody else.
    const [, secret] = (more.length === 0 && BEARER.exec(credential)) || [];
    const caller =
      secret === undefined ? undefined : await findCaller(pool, secret, keyOf(request));
    if (!caller) {
      response.set('WWW-Authenticate', 'Bearer');
      throw new HoldfastError('unauthenticated', 'Send a valid API key as a bearer token.');
    }
    response.locals['caller'] = caller;
    await rateLimits.count(caller.principal.principalId, request.method);
    next();
  };
}

/** The principal of an authenticated request. */
export function principalOf(response: Response): Principal {
  return callerOf(response).principal;
}

/** The principal with what its key stood for when it was authenticated; a claim that meets the key since looks again. */
export function callerOf(response: Response): Caller {
  const caller = callerIfKnown(response);
  if (!caller) throw new Error('a route without authentication');
  return caller;
}

/** The same for what looks at all requests; undefined before authentication, or where it failed. */
export function callerIfKnown(response: Response): Caller | undefined {
  return response.locals['caller'] as Caller | undefined;
}

/** Refuses principals that have none of the roles. */
export function requireRole(principal: Principal, roles: readonly Role[]): void {
  if (principal.roles.some((role) => roles.includes(role))) return;
  throw new HoldfastError('forbidden', `This needs one of the roles ${roles.join(', ')}.`);
}

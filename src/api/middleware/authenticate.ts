// Who is asking. The account comes from the credential and from nowhere else.
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { HoldfastError } from '../../domain/operation-error.ts';
import { looksLikeToken } from '../../identity/verify-token.ts';
import {
  findCaller,
  type Caller,
  type Principal,
  type Role,
} from '../../store/principals.store.ts';
import type { ApiDependencies } from '../dependencies.ts';

/** Tokens of providers that list groups are long; more than this no header should hold. */
const BEARER = /^Bearer +([\x21-\x7e]{1,8192})$/i;

/** What a key stands for is looked up with who asks; see `callerOf`. */
export interface Prefetch {
  readonly keyOf: (request: Request) => string | null;
}

const NO_KEY: Prefetch = { keyOf: () => null };

/**
 * Puts the principal of an API key or token into `response.locals` and counts the request against its limits; everyone else is 401,
 * without a word on what was wrong. Failed attempts have no limit of their own: keys are 256 random bits, so there is nothing to guess;
 * by address it would let one client lock out all others behind the same proxy; and what they cost is bounded by admission, which comes
 * first.
 */
export function authenticate(
  deps: Pick<ApiDependencies, 'pool' | 'rateLimits' | 'tokenCaller'>,
  { keyOf }: Prefetch = NO_KEY,
): RequestHandler {
  return async (request: Request, response: Response, next: NextFunction) => {
    const secret = bearerOf(request);
    const caller =
      secret === undefined ? undefined : await callerBehind(deps, secret, keyOf(request));
    if (!caller) {
      response.set('WWW-Authenticate', secret === undefined ? CHALLENGE : INVALID_CREDENTIAL);
      throw new HoldfastError(
        'unauthenticated',
        'Send a valid API key or token as a bearer token.',
      );
    }
    response.locals['caller'] = caller;
    await deps.rateLimits.count(caller.principal.principalId, request.method);
    next();
  };
}

/** RFC 6750 §3: an error code only where a credential was sent. */
const CHALLENGE = 'Bearer realm="holdfast"';
const INVALID_CREDENTIAL = `${CHALLENGE}, error="invalid_token"`;

function bearerOf(request: Request): string | undefined {
  const [credential = '', ...more] = request.headersDistinct['authorization'] ?? [];
  // Two credentials are none: whoever checked the other one meant somebody else.
  return more.length === 0 ? BEARER.exec(credential)?.[1] : undefined;
}

function callerBehind(
  { pool, tokenCaller }: Pick<ApiDependencies, 'pool' | 'tokenCaller'>,
  secret: string,
  key: string | null,
): Promise<Caller | undefined> {
  return tokenCaller && looksLikeToken(secret)
    ? tokenCaller(secret, key)
    : findCaller(pool, secret, key);
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

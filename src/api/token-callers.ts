// Who shows a token of the identity provider: verified, mapped to a principal, and that principal read from the register as any other.
import { identityOf, type TokenIdentity } from '../domain/claim-mapping.ts';
import { connectionProblems, type Connection } from '../domain/connection.ts';
import { HoldfastError } from '../domain/operation-error.ts';
import { sha256Hex } from '../domain/sha256.ts';
import type { OidcSettings } from '../identity/oidc-settings.ts';
import type { VerifiedClaims, VerifyToken } from '../identity/verify-token.ts';
import type { Logger } from '../observability/logger.ts';
import { KINDS } from '../operations/registry.ts';
import type { Pool } from '../store/pool.ts';
import { findTokenCaller, type Caller } from '../store/principals.store.ts';
import { provisionPrincipal } from '../store/token-principals.store.ts';

/**
 * The caller with what `key` stands for; undefined where the token is not valid or its principal is disabled. Throws `forbidden` where a
 * valid token's claims admit nobody, `unavailable` where the identity provider's keys can't be had.
 */
export type FindTokenCaller = (token: string, key: string | null) => Promise<Caller | undefined>;

interface Parts {
  readonly pool: Pool;
  readonly logger: Logger;
  readonly connections: readonly Connection[];
}

/** Tokens whose claims stand in the register already. What is forgotten is written once more, to no effect. */
const MOST_REMEMBERED = 10_000;

const RETRY_AFTER_S = 5;

export function tokenCallers(
  { issuer, claims: mapping }: OidcSettings,
  verify: VerifyToken,
  { pool, logger, connections }: Parts,
): FindTokenCaller {
  const written = new Set<string>();
  /** Only the first request of a token writes. */
  const provision = async (token: string, claims: VerifiedClaims, identity: TokenIdentity) => {
    const digest = sha256Hex(token);
    if (written.has(digest)) return;
    await provisionPrincipal(pool, { ...identity, issuer, issuedAt: claims.iat });
    remember(written, digest);
  };
  return async (token, key) => {
    const claims = await verified(verify, logger, token);
    if (claims === undefined) return undefined;
    const mapped = identityOf(issuer, claims, mapping);
    if (!mapped.ok) throw new HoldfastError('forbidden', mapped.detail);
    const { identity } = mapped;
    refuseUnserved(connections, identity.accountId);
    await provision(token, claims, identity);
    const caller = await findTokenCaller(pool, identity.principalId, key);
    return caller && narrowed(caller, identity);
  };
}

async function verified(
  verify: VerifyToken,
  logger: Logger,
  token: string,
): Promise<VerifiedClaims | undefined> {
  const result = await verify(token);
  if (result.status === 'valid') return result.claims;
  if (result.status === 'invalid') {
    logger.info({ reason: result.reason }, 'token refused');
    return undefined;
  }
  logger.warn({ err: result.cause }, 'the identity provider could not be asked');
  const detail = 'The identity provider can not be asked now; nothing was done.';
  throw new HoldfastError('unavailable', detail, { retry_after_seconds: RETRY_AFTER_S });
}

/** An account without connections has no operations, and an agent in it would keep every API from starting. */
function refuseUnserved(connections: readonly Connection[], accountId: string): void {
  if (connectionProblems(connections, [accountId], KINDS).length === 0) return;
  throw new HoldfastError('forbidden', 'The token names an account that is not served here.');
}

/** What this token says and the newest one still says: neither brings back what the other lacks. */
function narrowed({ principal, known }: Caller, { roles }: TokenIdentity): Caller {
  const both = principal.roles.filter((role) => roles.includes(role));
  if (both.length === 0) {
    const detail = 'The roles of this token are no longer those of its principal.';
    throw new HoldfastError('forbidden', detail);
  }
  return { principal: { ...principal, roles: both }, known };
}

function remember(written: Set<string>, digest: string): void {
  const [oldest] = written;
  if (written.size >= MOST_REMEMBERED && oldest !== undefined) written.delete(oldest);
  written.add(digest);
}

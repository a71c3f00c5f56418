// The public keys of the identity provider: found through its discovery document unless configured, kept for a while, and asked for
// again where a token names a key that isn't among them (a rotation). What the provider can't be asked about is never "not valid".
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import type { OidcSettings } from './oidc-settings.ts';

/** A caller waits for this at most. */
const TIMEOUT_MS = 5_000;
/** How long keys are used without asking again: a key that the provider has withdrawn signs no longer than this. */
const KEYS_FRESH_MS = 10 * 60_000;
/** Tokens that name unknown keys make us ask this often at most, however many of them come. */
const UNKNOWN_KEY_PAUSE_MS = 30_000;
/** After a failure nobody asks for this long: requests must not pile up behind a provider that is away. */
const FAILURE_PAUSE_MS = 2_000;

/** The provider could not be asked, or answered something that isn't a set of keys. */
export class IssuerUnreachable extends Error {
  override readonly name = 'IssuerUnreachable';
}

export interface KeyPauses {
  readonly unknownKeyMs: number;
  readonly failureMs: number;
}

const PAUSES: KeyPauses = { unknownKeyMs: UNKNOWN_KEY_PAUSE_MS, failureMs: FAILURE_PAUSE_MS };

/** Codes of jose for answers of the provider that hold no keys. */
const NO_KEYS: ReadonlySet<string> = new Set([
  errors.JWKSTimeout.code,
  errors.JWKSInvalid.code,
  errors.JOSEError.code,
]);

/** Finds the key of a token; throws `IssuerUnreachable`, or jose's error where there is no such key. */
export function issuerKeys(settings: OidcSettings, pauses: KeyPauses = PAUSES): JWTVerifyGetKey {
  const fetch = patientFetch(pauses.failureMs);
  let keySet: Promise<RemoteKeys> | undefined;
  const find = async (): Promise<RemoteKeys> => {
    const uri = settings.jwksUri ?? (await discover(settings.issuer, fetch));
    return createRemoteJWKSet(new URL(uri), {
      timeoutDuration: TIMEOUT_MS,
      cacheMaxAge: KEYS_FRESH_MS,
      cooldownDuration: pauses.unknownKeyMs,
      [customFetch]: fetch,
    });
  };
  return async (header, token) => {
    keySet ??= find();
    const found = await keySet.catch((error: unknown) => {
      keySet = undefined;
      throw error;
    });
    return found(header, token).catch((error: unknown): never => {
      if (error instanceof errors.JOSEError && NO_KEYS.has(error.code)) throw unreachable(error);
      throw error;
    });
  };
}

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>;
type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Fails at once for a while after a failure. */
function patientFetch(pauseMs: number): Fetch {
  let failedAt = Number.NEGATIVE_INFINITY;
  return async (url, init) => {
    if (performance.now() - failedAt < pauseMs) throw unreachable('it did not answer just now');
    try {
      const response = await fetch(url, { ...init, redirect: 'error' });
      if (response.status !== 200) throw new Error(`${url} answered ${response.status}`);
      return response;
    } catch (error) {
      failedAt = performance.now();
      throw unreachable(error);
    }
  };
}

/** OpenID Connect Discovery 1.0 §4: the document's `issuer` must be the one that was asked for. */
async function discover(issuer: string, fetch: Fetch): Promise<string> {
  const url = `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`;
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  const document = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  const { issuer: named, jwks_uri: jwksUri } = document;
  if (named !== issuer) throw unreachable(`${url} is the document of another issuer`);
  if (typeof jwksUri !== 'string' || !URL.canParse(jwksUri)) {
    throw unreachable(`${url} names no keys`);
  }
  return jwksUri;
}

function unreachable(cause: unknown): IssuerUnreachable {
  return new IssuerUnreachable('the identity provider could not be asked for its keys', { cause });
}

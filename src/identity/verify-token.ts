// Is this token genuine, meant for us, and in its time? Nothing in it is believed before its signature holds.
import { errors, jwtVerify, type JWTPayload } from 'jose';
import { IssuerUnreachable, issuerKeys, type KeyPauses } from './issuer-keys.ts';
import type { OidcSettings } from './oidc-settings.ts';

/** Signatures by a private key only: with a shared secret everybody who can check a token could make one. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];

/** Claims without which a token can't be judged; `iat` says which of two tokens is newer. */
const NEEDED = ['exp', 'iat'];

export interface VerifiedClaims extends JWTPayload {
  readonly exp: number;
  readonly iat: number;
}

type Verification =
  | { readonly status: 'valid'; readonly claims: VerifiedClaims }
  /** `reason` is for the log; the caller learns only that it is not valid. */
  | { readonly status: 'invalid'; readonly reason: string }
  | { readonly status: 'unreachable'; readonly cause: unknown };

export type VerifyToken = (token: string) => Promise<Verification>;

/** Three parts in base64url, as RFC 7515 §7.1 writes a signed token; an API key never looks like this. */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]*$/;

export function looksLikeToken(secret: string): boolean {
  return COMPACT.test(secret);
}

/** Checks tokens of one issuer. `pauses` are for tests that can't wait. */
export function tokenVerifier(settings: OidcSettings, pauses?: KeyPauses): VerifyToken {
  const { issuer, audience, clockToleranceS: clockTolerance, maxTokenAgeS } = settings;
  const keys = issuerKeys(settings, pauses);
  const options = {
    issuer,
    audience,
    clockTolerance,
    algorithms: ALGORITHMS,
    requiredClaims: NEEDED,
    ...(maxTokenAgeS !== undefined && { maxTokenAge: maxTokenAgeS }),
  };
  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, keys, options);
      return judged(payload, clockTolerance);
    } catch (error) {
      if (error instanceof IssuerUnreachable) return { status: 'unreachable', cause: error };
      return { status: 'invalid', reason: reasonOf(error) };
    }
  };
}

/** jose looks at the age only where it is bounded. A token from the future would be the newest one for ever. */
function judged({ exp, iat, ...claims }: JWTPayload, toleranceS: number): Verification {
  if (exp === undefined || iat === undefined) return { status: 'invalid', reason: 'no times' };
  if (iat > Date.now() / 1_000 + toleranceS) return { status: 'invalid', reason: 'iat: future' };
  return { status: 'valid', claims: { ...claims, exp, iat } };
}

/** Code and claim, never the token or what it holds. An error that isn't jose's is a key which can't be used. */
function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired) {
    return `${error.code} ${error.claim}: ${error.reason}`;
  }
  return error instanceof errors.JOSEError ? error.code : 'the key can not be used';
}

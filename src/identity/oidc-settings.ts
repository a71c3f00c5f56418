// What is configured of an identity provider: the variables, and the settings that they make.
import { z } from 'zod';
import type { ClaimMapping } from '../domain/claim-mapping.ts';
import { ACCOUNT_ID, ROLES } from '../domain/principal.ts';

/** Tokens are worth an account's whole power, so they and the keys that check them travel encrypted; loopback needs no wire. */
const LOOPBACK = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(\/|$)/;
const safeUrl = () =>
  z
    .url({ protocol: /^https?$/ })
    .refine((url) => url.startsWith('https:') || LOOPBACK.test(url), 'must be https, or loopback');

const claimName = (fallback: string) => z.string().min(1).max(200).default(fallback);
const seconds = () => z.coerce.number().int().min(0);

/** Whoever needs more has a clock to mend, not a tolerance to raise. */
const LARGEST_TOLERANCE_S = 300;

const roleMap = z
  .string()
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      context.addIssue({ code: 'custom', message: 'must be a JSON object' });
      return z.NEVER;
    }
  })
  .pipe(z.record(z.string().min(1), z.enum(ROLES)));

/** Read with all others by `config.ts`. Without `OIDC_ISSUER` none of the others may be set, and only API keys are taken. */
export const oidcVariables = {
  /** Exactly as tokens name it in `iss`. */
  OIDC_ISSUER: safeUrl().optional(),
  /** What `aud` must hold: this API's name at the provider, never a client's id, or ID tokens would pass. */
  OIDC_AUDIENCE: z.string().min(1).optional(),
  /** Unset: found through the issuer's discovery document. */
  OIDC_JWKS_URI: safeUrl().optional(),
  /** JSON, theirs to ours: `{"holdfast-approvers": "approver"}`. There is no default: nobody is an admin by accident of a name. */
  OIDC_ROLE_MAP: roleMap.optional(),
  OIDC_ROLES_CLAIM: claimName('roles'),
  OIDC_SUBJECT_CLAIM: claimName('sub'),
  /** The human or team behind it; must be written as the owners of API keys are, or somebody decides on own requests. */
  OIDC_OWNER_CLAIM: claimName('sub'),
  OIDC_ACCOUNT_CLAIM: claimName('holdfast_account'),
  /** Set: all of its tokens belong to this account, and no claim is read. */
  OIDC_ACCOUNT: z.string().regex(ACCOUNT_ID).optional(),
  /** How far the clocks of issuer and API may be apart. */
  OIDC_CLOCK_TOLERANCE_S: seconds().max(LARGEST_TOLERANCE_S).default(30),
  /** Set: a token older than this is refused, however long it says to live. */
  OIDC_MAX_TOKEN_AGE_S: seconds().min(1).optional(),
};

type Variables = z.output<z.ZodObject<typeof oidcVariables>>;

export interface OidcSettings {
  readonly issuer: string;
  readonly audience: string;
  /** Undefined: the discovery document says where. */
  readonly jwksUri: string | undefined;
  readonly clockToleranceS: number;
  readonly maxTokenAgeS: number | undefined;
  readonly claims: ClaimMapping;
}

/** Undefined where no identity provider is configured; throws with a sentence where half of one is. */
export function oidcSettings(e: Variables): OidcSettings | undefined {
  if (e.OIDC_ISSUER === undefined) {
    const alone = (
      ['OIDC_AUDIENCE', 'OIDC_JWKS_URI', 'OIDC_ROLE_MAP', 'OIDC_ACCOUNT'] as const
    ).find((name) => e[name] !== undefined);
    if (alone) throw new Error(`configuration: ${alone}: needs OIDC_ISSUER`);
    return undefined;
  }
  if (e.OIDC_AUDIENCE === undefined || e.OIDC_ROLE_MAP === undefined) {
    const missing = e.OIDC_AUDIENCE === undefined ? 'OIDC_AUDIENCE' : 'OIDC_ROLE_MAP';
    throw new Error(`configuration: ${missing}: must be set where OIDC_ISSUER is`);
  }
  return {
    issuer: e.OIDC_ISSUER,
    audience: e.OIDC_AUDIENCE,
    jwksUri: e.OIDC_JWKS_URI,
    clockToleranceS: e.OIDC_CLOCK_TOLERANCE_S,
    maxTokenAgeS: e.OIDC_MAX_TOKEN_AGE_S,
    claims: {
      subject: e.OIDC_SUBJECT_CLAIM,
      owner: e.OIDC_OWNER_CLAIM,
      roles: e.OIDC_ROLES_CLAIM,
      roleMap: e.OIDC_ROLE_MAP,
      account:
        e.OIDC_ACCOUNT === undefined ? { claim: e.OIDC_ACCOUNT_CLAIM } : { fixed: e.OIDC_ACCOUNT },
    },
  };
}

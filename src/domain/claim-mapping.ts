// From the claims of a token that was verified to who asks. An identity provider says who somebody is; what that means here is
// configured, and nothing is assumed: a role that is not mapped is not given.
import { ACCOUNT_ID, roleFault, type Role } from './principal.ts';
import { sha256Hex } from './sha256.ts';
import { parseIdentifier } from './text.ts';

/** Claims by their names: the name itself, else a path with dots (`realm_access.roles`). */
export interface ClaimMapping {
  readonly subject: string;
  readonly owner: string;
  readonly roles: string;
  /** Ours by theirs. A name that is not here gives nothing. */
  readonly roleMap: Readonly<Record<string, Role>>;
  /** `fixed`: the provider serves one account only and doesn't name it. */
  readonly account: { readonly claim: string } | { readonly fixed: string };
}

/** Who a token speaks of. */
export interface TokenIdentity {
  readonly principalId: string;
  readonly accountId: string;
  readonly owner: string;
  readonly roles: readonly Role[];
}

export type MappedClaims =
  | { readonly ok: true; readonly identity: TokenIdentity }
  | { readonly ok: false; readonly detail: string };

type Claims = Readonly<Record<string, unknown>>;

/** The identity, or a sentence for the token's holder: the token is good, and its claims say nothing that can be used here. */
export function identityOf(issuer: string, claims: Claims, mapping: ClaimMapping): MappedClaims {
  const accountId =
    'fixed' in mapping.account ? mapping.account.fixed : claimOf(claims, mapping.account.claim);
  if (typeof accountId !== 'string' || !ACCOUNT_ID.test(accountId)) {
    return no('The token names no account that could be one here.');
  }
  const subject = textOf(claimOf(claims, mapping.subject));
  if (subject === undefined) return no('The token does not say who asks.');
  const owner = textOf(claimOf(claims, mapping.owner));
  if (owner === undefined) return no('The token does not say who is behind the one who asks.');
  const roles = rolesOf(claimOf(claims, mapping.roles), mapping.roleMap);
  const fault = roleFault(roles);
  if (fault !== undefined) return no(`The token gives roles that can't be used: ${fault}.`);
  const principalId = tokenPrincipalId(issuer, accountId, subject);
  return { ok: true, identity: { principalId, accountId, owner, roles } };
}

/**
 * `{account}.oidc:{128 bits}`: subjects may be personal data and ids stand in logs and audit, so it is a digest. The account is part of
 * it: one subject in two accounts is two principals, and an account never changes under an id. No name given by an admin has a colon.
 */
export function tokenPrincipalId(issuer: string, accountId: string, subject: string): string {
  const digest = sha256Hex(JSON.stringify([issuer, accountId, subject]));
  return `${accountId}.oidc:${digest.slice(0, 32)}`;
}

function no(detail: string): MappedClaims {
  return { ok: false, detail };
}

/** Own members only: claims are named by whoever configures, their content by whoever signs. */
function claimOf(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  return name.split('.').reduce<unknown>((value, part) => {
    const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, part);
    return isObject ? (value as Claims)[part] : undefined;
  }, claims);
}

function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const parsed = parseIdentifier(value);
  return parsed.ok ? parsed.value : undefined;
}

/** A list of texts, or one text with blanks between names, as `scope` is written. */
function rolesOf(value: unknown, roleMap: ClaimMapping['roleMap']): Role[] {
  const names: readonly unknown[] = typeof value === 'string' ? value.split(' ') : asList(value);
  const mapped = names.flatMap((name) =>
    typeof name === 'string' && Object.hasOwn(roleMap, name) ? [roleMap[name] as Role] : [],
  );
  return [...new Set(mapped)];
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

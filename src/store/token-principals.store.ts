// Principals whose tokens come from an identity provider. Operations and grants point to a row, so each has one from its first token on.
import type { Role } from '../domain/principal.ts';
import type { Pool } from './pool.ts';

export interface TokenPrincipal {
  readonly principalId: string;
  readonly accountId: string;
  readonly owner: string;
  readonly roles: readonly Role[];
  readonly issuer: string;
  /** Of the token, in seconds since 1970. */
  readonly issuedAt: number;
}

/**
 * Creates the principal, or takes over what a token says that is not older than the newest one seen. An agent never becomes a person,
 * nor a person an agent: what one has submitted the other could approve.
 */
export async function provisionPrincipal(pool: Pool, one: TokenPrincipal): Promise<void> {
  await pool.query(
    `insert into principals as p (principal_id, account_id, owner, roles, issuer, claims_issued_at)
     values ($1, $2, $3, $4, $5, to_timestamp($6))
     on conflict (principal_id) do update
       set owner = excluded.owner, roles = excluded.roles, claims_issued_at = excluded.claims_issued_at
       where p.issuer = excluded.issuer and p.claims_issued_at <= excluded.claims_issued_at
         and ('agent' = any (p.roles)) = ('agent' = any (excluded.roles))`,
    [one.principalId, one.accountId, one.owner, one.roles, one.issuer, one.issuedAt],
  );
}

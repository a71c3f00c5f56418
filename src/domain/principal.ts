// Who asks: roles, and the names that accounts may have (contract §3).

export const ROLES = ['agent', 'approver', 'operator', 'auditor', 'admin'] as const;

export type Role = (typeof ROLES)[number];

/** The same rule stands as a check in the database. */
export const ACCOUNT_ID = /^[a-z0-9_]{1,64}$/;

/** A sentence on why nobody can have these roles together; undefined where somebody can. */
export function roleFault(roles: readonly Role[]): string | undefined {
  if (roles.length === 0) return 'a principal has at least one role';
  if (roles.includes('agent') && new Set(roles).size > 1) return 'an agent has no other role';
  return undefined;
}

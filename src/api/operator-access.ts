// Who may do what operators and admins do. Refusals by role are audited: somebody tried to decide who may not.
import type { RequestHandler } from 'express';
import { HoldfastError } from '../domain/operation-error.ts';
import type { OperationFile } from '../domain/operation.ts';
import type { Refusal } from '../domain/resolution.ts';
import type { Principal, Role } from '../store/principals.store.ts';
import { recordRefusal } from '../store/refusals.store.ts';
import type { ApiDependencies } from './dependencies.ts';
import { principalOf } from './middleware/authenticate.ts';

/** A request of somebody who decides. `route` is the path with its parameters as names. */
export interface OperatorRequest {
  readonly principal: Principal;
  readonly route: string;
}

/** Refuses principals that have none of the roles, and writes that down. */
export async function requireDecider(
  { pool }: Pick<ApiDependencies, 'pool'>,
  { principal, route }: OperatorRequest,
  roles: readonly Role[],
): Promise<void> {
  if (principal.roles.some((role) => roles.includes(role))) return;
  await recordRefusal(pool, { principal, code: 'forbidden', route });
  throw new HoldfastError('forbidden', `This needs one of the roles ${roles.join(', ')}.`);
}

/** After authentication and before the body is read: who is no admin learns nothing of what is wrong with it. */
export function adminOnly(deps: Pick<ApiDependencies, 'pool'>, route: string): RequestHandler {
  return async (_request, response, next) => {
    await requireDecider(deps, { principal: principalOf(response), route }, ['admin']);
    next();
  };
}

/** Refusals of a person because of who they are; those of an operation's state are no attempt on anything. */
const OF_THE_PERSON: ReadonlySet<string> = new Set(['own_request', 'second_person_required']);

/** The error of a refusal, written down first where it is about the person. */
export async function refusalOf(
  { pool }: Pick<ApiDependencies, 'pool'>,
  { principal, route }: OperatorRequest,
  { code, detail }: Refusal,
  { operation }: OperationFile,
): Promise<HoldfastError> {
  const { operationId, status } = operation;
  if (OF_THE_PERSON.has(code)) await recordRefusal(pool, { principal, code, route, operationId });
  return new HoldfastError(code, detail, { operation_id: operationId, operation_status: status });
}

/** The same answer for an operation of another account and for one that never was. */
export function noSuchOperation(): HoldfastError {
  return new HoldfastError('not_found', 'There is no such operation.');
}

// Refusals that must be provable later are written down before they are answered.
import type { HoldfastError } from '../domain/operation-error.ts';
import { recordRefusal } from '../store/refusals.store.ts';
import type { ApiDependencies } from './dependencies.ts';
import type { SubmitRequest } from './submission.types.ts';

/** Who asked for what. A preview may come without a key, and has a route of its own. */
export type RefusedRequest = Pick<SubmitRequest, 'principal' | 'kind' | 'agentRun'> & {
  readonly key?: string | undefined;
  readonly route?: string;
};

/** Audits the refusal (`detail`: ids and names on it) and gives it back to be thrown. Where the audit can't be written the caller hears of that instead. */
export async function refuse(
  deps: Pick<ApiDependencies, 'pool'>,
  { principal, kind, key, agentRun, route }: RefusedRequest,
  refusal: HoldfastError,
  detail: Readonly<Record<string, unknown>> = {},
): Promise<HoldfastError> {
  await recordRefusal(deps.pool, {
    principal,
    code: refusal.code,
    route: route ?? `/agent/operations/${kind}`,
    idempotencyKey: key,
    agentRun,
    operationId: refusal.members.operation_id,
    detail,
  });
  return refusal;
}

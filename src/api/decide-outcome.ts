// The use cases of a person who settles what machines could not: have the provider asked, resolve, release.
import type { OperationFile } from '../domain/operation.ts';
import type { Operation } from '../domain/operation.ts';
import type { Resolution } from '../domain/resolution.ts';
import { requestLook } from '../store/look-requests.store.ts';
import { releaseBusinessKey, resolveOperation } from '../store/resolutions.store.ts';
import type { ApiDependencies } from './dependencies.ts';
import { noSuchOperation, refusalOf, type OperatorRequest } from './operator-access.ts';

/** Has the provider asked now; answers the operation as it stands. */
export async function lookNow(
  deps: Pick<ApiDependencies, 'pool' | 'startSoon' | 'logger'>,
  request: OperatorRequest,
  operationId: string,
): Promise<OperationFile> {
  const { principal } = request;
  const result = await requestLook(deps.pool, principal.accountId, operationId);
  if (result.status === 'not_found') throw noSuchOperation();
  const { file } = result;
  if (result.status === 'wrong_state') {
    const detail = 'Only an operation whose outcome is open can be looked up.';
    throw await refusalOf(deps, request, { code: 'wrong_state', detail }, file);
  }
  deps.startSoon.look(file.operation, result.messageId);
  const who = { operation_id: operationId, principal_id: principal.principalId };
  deps.logger.info(who, 'a look was asked for');
  return file;
}

export interface Decision extends Resolution {
  readonly evidence: string;
}

export type Decided =
  | { readonly status: 'applied'; readonly file: OperationFile }
  | { readonly status: 'awaiting_second'; readonly file: OperationFile; readonly at: string };

/** Resolves an operation, or stores the first of two equal resolutions that a large one needs. */
export async function decideOutcome(
  deps: Pick<ApiDependencies, 'pool' | 'cardOf'>,
  request: OperatorRequest,
  operationId: string,
  decision: Decision,
): Promise<Decided> {
  const by = request.principal;
  const rulesOf = (operation: Operation) => ({
    canLookUp: deps.cardOf(operation.adapter).lookup !== 'none',
    needsTwo: needsTwoPeople(operation),
  });
  const wish = { ...decision, operationId, by, rulesOf };
  const result = await resolveOperation(deps.pool, wish);
  if (result.status === 'not_found') throw noSuchOperation();
  if (result.status !== 'refused') return result;
  throw await refusalOf(deps, request, result.refusal, result.file);
}

/** What needed approval before it was sent needs two people where nobody knows what became of it; so does what nobody decided about. */
function needsTwoPeople({ policyDecision }: Operation): boolean {
  return policyDecision?.verdict !== 'allow';
}

/** Gives a business key back; answers the operation, which stays as it is. */
export async function releaseKey(
  deps: Pick<ApiDependencies, 'pool'>,
  request: OperatorRequest,
  operationId: string,
  evidence: string,
): Promise<OperationFile> {
  const by = request.principal;
  const result = await releaseBusinessKey(deps.pool, { operationId, by, evidence });
  if (result.status === 'not_found') throw noSuchOperation();
  if (result.status === 'released') return result.file;
  throw await refusalOf(deps, request, result.refusal, result.file);
}

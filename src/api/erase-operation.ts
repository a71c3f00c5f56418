// The use case: an operator has what is personal taken from a settled operation now, not when retention comes.
import type { OperationFile } from '../domain/operation.ts';
import { personalMembersOf } from '../operations/registry.ts';
import { eraseOperation } from '../store/personal-data.store.ts';
import type { ApiDependencies } from './dependencies.ts';
import { noSuchOperation, refusalOf, type OperatorRequest } from './operator-access.ts';

/** The operation as it is answered from now on, also where it was erased before. */
export async function erasePersonalData(
  deps: Pick<ApiDependencies, 'pool'>,
  request: OperatorRequest,
  operationId: string,
): Promise<OperationFile> {
  const wish = { operationId, by: request.principal, personalOf: personalMembersOf };
  const result = await eraseOperation(deps.pool, wish);
  if (result.status === 'not_found') throw noSuchOperation();
  if (result.status === 'erased') return result.file;
  throw await refusalOf(deps, request, result.refusal, result.file);
}

// The use case: cancel what was not sent yet.
import { HoldfastError } from '../domain/operation-error.ts';
import type { Operation, OperationFile } from '../domain/operation.ts';
import { cancelBeforeIntent } from '../store/cancellations.store.ts';
import { readFile } from '../store/operations.store.ts';
import type { Principal } from '../store/principals.store.ts';
import type { ApiDependencies } from './dependencies.ts';
import { mayRead } from './may-read.ts';
import { noSuchOperation } from './operator-access.ts';

/** The canceled operation, also where it was canceled before; throws `too_late_to_cancel` once an intent exists. */
export async function cancelOperation(
  { pool }: Pick<ApiDependencies, 'pool'>,
  principal: Principal,
  operationId: string,
): Promise<OperationFile> {
  const read = await readFile(pool, operationId);
  if (!read || !mayCancel(principal, read.operation)) throw noSuchOperation();
  const file = await cancelBeforeIntent(pool, operationId, principal.principalId);
  if (!file) throw noSuchOperation();
  const { status } = file.operation;
  if (status === 'CANCELED') return file;
  throw new HoldfastError('too_late_to_cancel', 'It was sent, settled, or is with a person.', {
    operation_id: operationId,
    operation_status: status,
  });
}

/** An agent its own, of kinds it is granted still; an operator those of the account. */
function mayCancel(principal: Principal, operation: Operation): boolean {
  const isOwn = operation.agentId === principal.principalId;
  return mayRead(principal, operation) && (isOwn || !principal.roles.includes('agent'));
}

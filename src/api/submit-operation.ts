// The use case: one submission becomes one operation, or finds the one that its key already names. No HTTP in here.
import type { Operation, OperationFile } from '../domain/operation.ts';
import { isSettled } from '../domain/operation-state.ts';
import { HoldfastError } from '../domain/operation-error.ts';
import { fingerprintOf } from '../domain/fingerprint.ts';
import type { OperationDefinition } from '../operations/define-operation.ts';
import { currentDefinition, definitionOf } from '../operations/registry.ts';
import { claim, type ClaimResult } from '../store/claims.store.ts';
import { findByKey, readFile } from '../store/operations.store.ts';
import type { Principal } from '../store/principals.store.ts';
import { isUnavailable } from '../store/sqlstate.ts';
import { buildClaim } from './build-claim.ts';
import type { ApiDependencies } from './dependencies.ts';
import { parseCommand } from './parse-command.ts';
import type { Submission } from './parse-submission.ts';
import { refuse } from './refuse.ts';

export type Disposition = 'created' | 'in_progress' | 'replayed';

export interface Submitted {
  readonly disposition: Disposition;
  readonly file: OperationFile;
}

/** A submission together with who makes it and what for. */
export interface SubmitRequest extends Submission {
  readonly principal: Principal;
  readonly kind: string;
}

/** Submits; throws `HoldfastError` with the refusal. A refused submission claims nothing and leaves its key free. */
export async function submitOperation(
  deps: ApiDependencies,
  request: SubmitRequest,
): Promise<Submitted> {
  const definition = currentDefinition(request.kind);
  if (!definition) throw new HoldfastError('unknown_kind', 'There is no such kind.');
  await requireGrant(deps, request);
  const known = await findByKey(deps.pool, request.principal.accountId, request.key);
  if (known) return repeat(deps, request, known);
  if (request.mode === 'retry') {
    throw new HoldfastError('unknown_key', 'Nothing was ever submitted under this key.');
  }
  return claimNew(deps, request, definition);
}

async function requireGrant(deps: ApiDependencies, request: SubmitRequest): Promise<void> {
  if (request.principal.grants.includes(request.kind)) return;
  const detail = `This principal has no grant for ${request.kind}.`;
  throw await refuse(deps, request, new HoldfastError('forbidden', detail));
}

async function claimNew(
  deps: ApiDependencies,
  request: SubmitRequest,
  definition: OperationDefinition,
): Promise<Submitted> {
  const command = parseCommand(definition, request.body);
  const wanted = buildClaim(deps, request, definition, command);
  const result = await claim(deps.pool, wanted).catch((error: unknown) =>
    rereadClaim(deps, wanted.operation.operationId, error),
  );
  switch (result.status) {
    case 'claimed':
      deps.startSoon.begin(result.operation);
      return {
        disposition: 'created',
        file: { operation: result.operation, attempts: [], approval: result.approval },
      };
    case 'known':
      return repeatOfWinner(deps, request);
    case 'business_duplicate':
      throw new HoldfastError(
        'business_duplicate',
        'Another key already asked for this; see the operation that is named.',
        { operation_id: result.operationId },
      );
  }
}

/** A commit whose answer was lost may have happened: our own fresh id tells. */
async function rereadClaim(
  deps: ApiDependencies,
  operationId: string,
  error: unknown,
): Promise<ClaimResult> {
  if (!isUnavailable(error)) throw error;
  const file = await readFile(deps.pool, operationId);
  if (!file) throw error;
  return { status: 'claimed', operation: file.operation, approval: file.approval };
}

async function repeatOfWinner(deps: ApiDependencies, request: SubmitRequest): Promise<Submitted> {
  const winner = await findByKey(deps.pool, request.principal.accountId, request.key);
  if (!winner) throw new Error('a key that was taken has no operation');
  return repeat(deps, request, winner);
}

/** A known key: the same request is answered with its operation, another one is refused. */
async function repeat(
  deps: ApiDependencies,
  request: SubmitRequest,
  known: Operation,
): Promise<Submitted> {
  if (!isSameRequest(request, known)) {
    const detail = 'This key was used for another request; its operation is named here.';
    const refusal = new HoldfastError('fingerprint_mismatch', detail, namesOf(known));
    throw await refuse(deps, request, refusal);
  }
  if (request.mode === 'first') {
    throw new HoldfastError('key_known', 'This key was submitted before.', namesOf(known));
  }
  if (isSettled(known.status)) {
    return {
      disposition: 'replayed',
      file: { operation: known, attempts: [], approval: null },
    };
  }
  const file = await readFile(deps.pool, known.operationId);
  if (!file) throw new Error(`operation ${known.operationId} is gone`);
  return { disposition: isSettled(file.operation.status) ? 'replayed' : 'in_progress', file };
}

/** Compared under the version the operation was claimed with; a body that it can't read is a 422, not a mismatch. */
function isSameRequest(request: SubmitRequest, known: Operation): boolean {
  if (known.kind !== request.kind) return false;
  const definition = definitionOf(known.kind, known.kindVersion);
  if (!definition) throw new Error(`${known.kind} ${known.kindVersion} is not registered`);
  const { accountId, kind, kindVersion } = known;
  const command = parseCommand(definition, request.body);
  return fingerprintOf({ accountId, kind, kindVersion, command }) === known.fingerprint;
}

function namesOf({ operationId, status }: Operation) {
  return { operation_id: operationId, operation_status: status };
}

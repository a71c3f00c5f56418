// The use case: one submission becomes one operation, or finds the one that its key already names. No HTTP in here.
import type { Operation } from '../domain/operation.ts';
import { isSettled } from '../domain/operation-state.ts';
import { HoldfastError } from '../domain/operation-error.ts';
import { fingerprintOf } from '../domain/fingerprint.ts';
import type { PolicyVerdict } from '../domain/policy.ts';
import type { OperationDefinition } from '../operations/define-operation.ts';
import { currentDefinition, definitionOf } from '../operations/registry.ts';
import { claim, type ClaimResult } from '../store/claims.store.ts';
import { findByKey, readFile, type KnownKey } from '../store/operations.store.ts';
import { isUnavailable } from '../store/sqlstate.ts';
import { buildClaim } from './build-claim.ts';
import type { ApiDependencies } from './dependencies.ts';
import { parseCommand } from './parse-command.ts';
import { refuse } from './refuse.ts';
import { requireGrant } from './require-grant.ts';
import type { Submitted, SubmitRequest } from './submission.types.ts';

/** Submits; throws `HoldfastError` with the refusal. A refused submission claims nothing and leaves its key free. */
export async function submitOperation(
  deps: ApiDependencies,
  request: SubmitRequest,
): Promise<Submitted> {
  const definition = currentDefinition(request.kind);
  if (!definition) throw new HoldfastError('unknown_kind', 'There is no such kind.');
  await requireGrant(deps, request);
  if (request.known) return repeat(deps, request, request.known);
  if (request.mode === 'retry') {
    throw new HoldfastError('unknown_key', 'Nothing was ever submitted under this key.');
  }
  return claimNew(deps, request, definition);
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
    case 'reused':
      return repeatOfWinner(deps, request);
    case 'business_duplicate':
      throw new HoldfastError(
        'business_duplicate',
        'Another key already asked for this; see the operation that is named.',
        { operation_id: result.operationId },
      );
    case 'not_admitted':
      return repeatIfClaimed(deps, request, new HoldfastError(result.code, result.detail));
    case 'denied':
      throw await denied(deps, request, result.verdict);
  }
}

function denied(
  deps: ApiDependencies,
  request: SubmitRequest,
  { reasons, rules, policyVersion }: PolicyVerdict,
): Promise<HoldfastError> {
  const detail = `The policy denies it: ${reasons.join('; ')}.`;
  const policy = { policy_version: policyVersion, verdict: 'deny', rules };
  return refuse(deps, request, new HoldfastError('policy_denied', detail), { policy });
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

/** What refused may be a concurrent submit of this very key, which holds what this one asks for: then this one is its repeat. */
async function repeatIfClaimed(
  deps: ApiDependencies,
  request: SubmitRequest,
  refusal: HoldfastError,
): Promise<Submitted> {
  const known = await findByKey(deps.pool, request.principal.accountId, request.key);
  if (!known) throw refusal;
  return repeat(deps, request, known);
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
  known: KnownKey,
): Promise<Submitted> {
  const { operation, isAlias } = known;
  if (!isSameRequest(request, known)) {
    const detail = 'This key was used for another request; its operation is named here.';
    const refusal = new HoldfastError('fingerprint_mismatch', detail, namesOf(operation));
    throw await refuse(deps, request, refusal);
  }
  if (request.mode === 'first') {
    throw new HoldfastError('key_known', 'This key was submitted before.', namesOf(operation));
  }
  const { principal, agentRun, key } = request;
  deps.replays.note({ operation, principal, agentRun, key });
  // Stored bytes are all that a settled operation is answered with, so its attempts need not be read.
  const file = isSettled(operation.status)
    ? { operation, attempts: [], approval: null }
    : await readFile(deps.pool, operation.operationId);
  if (!file) throw new Error(`operation ${operation.operationId} is gone`);
  if (isAlias) return { disposition: 'reused', file };
  return { disposition: isSettled(file.operation.status) ? 'replayed' : 'in_progress', file };
}

/** Compared under the version the key was claimed with; a body that it can't read is a 422, not a mismatch. */
function isSameRequest(request: SubmitRequest, known: KnownKey): boolean {
  const { accountId, kind } = known.operation;
  const { kindVersion } = known;
  if (kind !== request.kind) return false;
  const definition = definitionOf(kind, kindVersion);
  if (!definition) throw new Error(`${kind} ${kindVersion} is not registered`);
  const command = parseCommand(definition, request.body);
  return fingerprintOf({ accountId, kind, kindVersion, command }) === known.fingerprint;
}

function namesOf({ operationId, status }: Operation) {
  return { operation_id: operationId, operation_status: status };
}

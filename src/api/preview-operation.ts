// The use case: what a submission would come to now. It reads what a submit reads, in the same order, and claims nothing.
import { fingerprintOf } from '../domain/fingerprint.ts';
import { HoldfastError } from '../domain/operation-error.ts';
import { judgePreview, type PreviewFindings } from '../domain/preview.ts';
import type { JsonObject } from '../domain/strict-json.ts';
import type { OperationDefinition } from '../operations/define-operation.ts';
import { currentDefinition, definitionOf } from '../operations/registry.ts';
import { businessKeyHolder } from '../store/business-keys.store.ts';
import { findByKey, type KnownKey } from '../store/operations.store.ts';
import { previewTarget, type TargetQuestion } from '../store/targets.store.ts';
import { targetOf } from './build-claim.ts';
import type { ApiDependencies } from './dependencies.ts';
import { parseCommand } from './parse-command.ts';
import { refuse } from './refuse.ts';
import type { Preview } from './routes/preview.contract.ts';
import type { SubmitRequest } from './submission.types.ts';

/** A submission that need not bring a key. */
export type PreviewRequest = Omit<SubmitRequest, 'key' | 'known'> & { readonly key?: string };

/** Previews; throws `HoldfastError` where a submit would be refused before its key is looked up, or its body is no command. */
export async function previewOperation(
  deps: Pick<ApiDependencies, 'pool'>,
  request: PreviewRequest,
): Promise<Preview> {
  const { principal, kind, key } = request;
  const { accountId } = principal;
  const current = currentDefinition(kind);
  if (!current) throw new HoldfastError('unknown_kind', 'There is no such kind.');
  await requireGrant(deps, request);
  const known = key === undefined ? undefined : await findByKey(deps.pool, accountId, key);
  const definition = versionFor(known, kind) ?? current;
  const command = parseCommand(definition, request.body);
  const { version: kindVersion } = definition;
  const fingerprint = fingerprintOf({ accountId, kind, kindVersion, command });
  const policy = definition.policy(command);
  const verdict = judgePreview({
    known: known && {
      operationId: known.operation.operationId,
      status: known.operation.status,
      isSameRequest: known.operation.kind === kind && known.fingerprint === fingerprint,
    },
    hasKey: key !== undefined,
    mode: request.mode,
    ...(await rulesOfNow(deps, accountId, definition, command)),
  });
  return {
    kind,
    kind_version: kindVersion,
    command,
    fingerprint,
    business_key: partsOf(definition.businessKey(command)),
    policy,
    would: verdict.would,
    existing: verdict.existing
      ? { operation_id: verdict.existing.operationId, status: verdict.existing.status }
      : null,
    conflicts: [...verdict.conflicts],
  };
}

async function requireGrant(
  deps: Pick<ApiDependencies, 'pool'>,
  request: PreviewRequest,
): Promise<void> {
  const { principal, kind } = request;
  if (principal.grants.includes(kind)) return;
  const refusal = new HoldfastError('forbidden', `This principal has no grant for ${kind}.`);
  throw await refuse(deps, { ...request, route: `/agent/operations/${kind}/preview` }, refusal);
}

/** A repeat is judged by the version that its key was claimed with. */
function versionFor(known: KnownKey | undefined, kind: string): OperationDefinition | undefined {
  return known?.operation.kind === kind ? definitionOf(kind, known.kindVersion) : undefined;
}

async function rulesOfNow(
  { pool }: Pick<ApiDependencies, 'pool'>,
  accountId: string,
  definition: OperationDefinition,
  command: JsonObject,
): Promise<Pick<PreviewFindings, 'targetRefusal' | 'holder' | 'onDuplicate'>> {
  const question: TargetQuestion | null = targetOf(definition, command);
  const businessKey = definition.businessKey(command);
  const [target, holder] = await Promise.all([
    question && previewTarget(pool, accountId, question),
    businessKey === null
      ? undefined
      : businessKeyHolder(pool, { accountId, kind: definition.kind, businessKey }),
  ]);
  return {
    targetRefusal:
      target && !target.admitted ? { code: target.code, detail: target.detail } : undefined,
    holder,
    onDuplicate: definition.onDuplicate,
  };
}

function partsOf(businessKey: string | null): string[] | null {
  return businessKey === null ? null : (JSON.parse(businessKey) as string[]);
}

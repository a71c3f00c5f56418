// The use case: what a submission would come to now. It reads what a submit reads, in the same order, and claims nothing.
import { fingerprintOf } from '../domain/fingerprint.ts';
import { HoldfastError } from '../domain/operation-error.ts';
import { NOTHING_FOUND } from '../domain/policy-case.ts';
import { decisionOf, type PolicyDecision } from '../domain/policy-decision.ts';
import { judgePreview, type PreviewFindings } from '../domain/preview.ts';
import type { JsonObject } from '../domain/strict-json.ts';
import type { OperationDefinition } from '../operations/define-operation.ts';
import { currentDefinition, definitionOf } from '../operations/registry.ts';
import { businessKeyHolder } from '../store/business-keys.store.ts';
import { findByKey, type KnownKey } from '../store/operations.store.ts';
import { asksRegister, find, type Claimant } from '../store/policy-findings.store.ts';
import { previewTarget, type TargetQuestion } from '../store/targets.store.ts';
import { caseFor, targetOf } from './build-claim.ts';
import type { ApiDependencies } from './dependencies.ts';
import { parseCommand } from './parse-command.ts';
import { requireGrant } from './require-grant.ts';
import type { Preview } from './routes/preview.contract.ts';
import type { SubmitRequest } from './submission.types.ts';

type RulesOfNow = Pick<PreviewFindings, 'targetRefusal' | 'holder' | 'onDuplicate' | 'denial'>;

/** A submission that need not bring a key. */
export type PreviewRequest = Omit<SubmitRequest, 'key' | 'known'> & { readonly key?: string };

/** Previews; throws `HoldfastError` where a submit would be refused before its key is looked up, or its body is no command. */
export async function previewOperation(
  deps: Pick<ApiDependencies, 'pool' | 'policy'>,
  request: PreviewRequest,
): Promise<Preview> {
  const { principal, kind, key } = request;
  const { accountId } = principal;
  const current = currentDefinition(kind);
  if (!current) throw new HoldfastError('unknown_kind', 'There is no such kind.');
  await requireGrant(deps, { ...request, route: `/agent/operations/${kind}/preview` });
  const known = key === undefined ? undefined : await findByKey(deps.pool, accountId, key);
  const definition = versionFor(known, kind) ?? current;
  const command = parseCommand(definition, request.body);
  const { version: kindVersion } = definition;
  const fingerprint = fingerprintOf({ accountId, kind, kindVersion, command });
  const claimant = { accountId, fingerprint };
  const { rules, policy } = await rulesOfNow(deps, request, definition, command, claimant);
  const verdict = judgePreview({
    known: known && {
      operationId: known.operation.operationId,
      status: known.operation.status,
      isSameRequest: known.operation.kind === kind && known.fingerprint === fingerprint,
    },
    hasKey: key !== undefined,
    mode: request.mode,
    ...rules,
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

/** A repeat is judged by the version that its key was claimed with. */
function versionFor(known: KnownKey | undefined, kind: string): OperationDefinition | undefined {
  return known?.operation.kind === kind ? definitionOf(kind, known.kindVersion) : undefined;
}

async function rulesOfNow(
  deps: Pick<ApiDependencies, 'pool' | 'policy'>,
  { principal }: PreviewRequest,
  definition: OperationDefinition,
  command: JsonObject,
  claimant: Claimant,
): Promise<{ rules: RulesOfNow; policy: PolicyDecision }> {
  const { pool } = deps;
  const { accountId } = claimant;
  const question: TargetQuestion | null = targetOf(definition, command);
  const businessKey = definition.businessKey(command);
  const [target, holder] = await Promise.all([
    question && previewTarget(pool, accountId, question),
    businessKey === null
      ? undefined
      : businessKeyHolder(pool, { accountId, kind: definition.kind, businessKey }),
  ]);
  const ofTarget = target?.operation?.command ?? null;
  const asked = caseFor(deps, principal, definition, command, ofTarget);
  const found = asksRegister(asked) ? await find(pool, claimant, asked) : NOTHING_FOUND;
  const policy = decisionOf(asked.decide(found));
  const rules = {
    targetRefusal:
      target && !target.admitted ? { code: target.code, detail: target.detail } : undefined,
    holder,
    onDuplicate: definition.onDuplicate,
    denial: policy.verdict === 'deny' ? policy.reasons.join('; ') : undefined,
  };
  return { rules, policy };
}

function partsOf(businessKey: string | null): string[] | null {
  return businessKey === null ? null : (JSON.parse(businessKey) as string[]);
}

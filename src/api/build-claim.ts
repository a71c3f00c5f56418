// Everything that is decided about an operation before it exists: who serves it, under which token, by which plan, and what the policy
// is asked.
import { connectionFor } from '../domain/connection.ts';
import { planFor } from '../domain/execution-plan.ts';
import { FINGERPRINT_VERSION, fingerprintOf } from '../domain/fingerprint.ts';
import { policyCase, type PolicyCase } from '../domain/policy-case.ts';
import { providerTokenFor } from '../domain/provider-token.ts';
import type { JsonObject } from '../domain/strict-json.ts';
import type { OperationDefinition } from '../operations/define-operation.ts';
import { factsOf, isIntendedRepeat } from '../operations/policy-facts.ts';
import type { Claim } from '../store/claims.store.ts';
import type { Principal } from '../store/principals.store.ts';
import type { ApiDependencies } from './dependencies.ts';
import type { SubmitRequest } from './submission.types.ts';

/** The claim of a command that its schema has accepted. */
export function buildClaim(
  deps: ApiDependencies,
  request: SubmitRequest,
  definition: OperationDefinition,
  command: JsonObject,
): Claim {
  const { principal, key, agentRun, traceparent } = request;
  const { accountId } = principal;
  const { kind, version: kindVersion } = definition;
  const { connection, card, providerToken } = servedBy(deps, accountId, kind, key);
  return {
    route: `/agent/operations/${kind}`,
    onDuplicate: definition.onDuplicate,
    target: targetOf(definition, command),
    policy: (target) => caseFor(deps, principal, definition, command, target?.command ?? null),
    approvalId: deps.newId('apr'),
    operation: {
      operationId: deps.newId('op'),
      accountId,
      idempotencyKey: key,
      kind,
      kindVersion,
      fingerprint: fingerprintOf({ accountId, kind, kindVersion, command }),
      fingerprintVersion: FINGERPRINT_VERSION,
      command,
      businessKey: definition.businessKey(command),
      agentId: principal.principalId,
      agentRun,
      traceparent,
      connection: connection.name,
      adapter: connection.adapter,
      providerToken,
      plan: planFor(deps.plan, card),
    },
  };
}

/** The question that a kind asks about the operation it acts on; null where it acts on none. */
export function targetOf({ target }: OperationDefinition, command: JsonObject): Claim['target'] {
  if (!target) return null;
  return {
    operationId: target.operationId(command),
    kind: target.kind,
    admit: (found) => target.admit(found, command),
  };
}

/** The case of a command before the policy in force; `target` is the command of the operation that it acts on. */
export function caseFor(
  { policy }: Pick<ApiDependencies, 'policy'>,
  { accountId, principalId, owner }: Principal,
  definition: OperationDefinition,
  command: JsonObject,
  target: JsonObject | null,
): PolicyCase {
  const asked = { accountId, agentId: principalId, owner, command };
  return policyCase(policy(), factsOf(definition, asked, target), isIntendedRepeat(command));
}

function servedBy(deps: ApiDependencies, accountId: string, kind: string, key: string) {
  const connection = connectionFor(deps.connections, accountId, kind);
  if (!connection) throw new Error(`no connection serves ${kind} of ${accountId}`);
  const card = deps.cardOf(connection.adapter);
  const providerToken = providerTokenFor({
    installationId: deps.installationId,
    accountId,
    key,
    ownAccountConnection: connection.accounts.length === 1,
    allows: card.allowsToken,
  });
  return { connection, card, providerToken };
}

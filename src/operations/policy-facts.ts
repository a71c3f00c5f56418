// What the policy is told of an operation, from its kind's declaration; the same at the claim, in a preview and at the dispatch.
import type { PolicyFacts } from '../domain/policy.ts';
import type { JsonObject } from '../domain/strict-json.ts';
import type { OperationDefinition } from './define-operation.ts';

/** Who asks for what. */
export interface Asked {
  readonly accountId: string;
  readonly agentId: string;
  readonly owner: string;
  readonly command: JsonObject;
}

/** All but what the register knows; `target` is the command of the operation that it acts on. */
export function factsOf(
  definition: OperationDefinition,
  { accountId, agentId, owner, command }: Asked,
  target: JsonObject | null,
): Omit<PolicyFacts, 'possibleDuplicate'> {
  const facts = definition.facts(command, target);
  return { ...facts, kind: definition.kind, account: accountId, agent: agentId, owner };
}

/** True where the command says that it repeats an equal one on purpose: then it is nobody's possible duplicate. */
export function isIntendedRepeat(command: JsonObject): boolean {
  return command['intended_repeat_of'] !== undefined;
}

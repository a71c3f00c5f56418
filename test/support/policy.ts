// Policies for tests: the one that is shipped, and small ones that a test writes as a file would be written.
import { readConfig } from '../../src/config.ts';
import {
  decide,
  type Policy,
  type PolicyFacts,
  type PolicyVerdict,
} from '../../src/domain/policy.ts';
import type { OperationDefinition } from '../../src/operations/define-operation.ts';
import { factsOf } from '../../src/operations/policy-facts.ts';
import type { JsonObject } from '../../src/domain/strict-json.ts';
import { readPolicy } from '../../src/policy/keep-policy.ts';
import { parsePolicy } from '../../src/policy/parse-policy.ts';

const config = readConfig({});

/** The policy that is shipped. */
export const SHIPPED_POLICY: Policy = readPolicy(config);

/** The policy of `rules` and `ceilings` as they stand in a file, the outermost lists without indentation. */
export function policyOf(rules: string, ceilings = ''): Policy {
  const text = `policy_format: 1\nrules:\n${rules}\n${ceilings && `ceilings:\n${ceilings}\n`}`;
  return parsePolicy(text, 'policy.yaml', config);
}

/** Facts of an operation; everything that isn't given is nobody's. */
export function factsWith(members: Partial<PolicyFacts>): PolicyFacts {
  return {
    kind: 'payment',
    account: 'acct_a',
    agent: 'acct_a.agent',
    owner: 'owner-of-acct_a.agent',
    possibleDuplicate: false,
    ...members,
  };
}

/** What the shipped policy says of a command; `target` is the command that it acts on. */
export function shippedVerdict(
  definition: OperationDefinition,
  command: JsonObject,
  target: JsonObject | null = null,
): PolicyVerdict['verdict'] {
  const asked = { accountId: 'acct_a', agentId: 'acct_a.agent', owner: 'o', command };
  const facts = { ...factsOf(definition, asked, target), possibleDuplicate: false };
  return decide(SHIPPED_POLICY, facts).verdict;
}

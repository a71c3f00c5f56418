// What has to be read before an operation is sent for the first time: the policy in force, and what the provider says of the target. It is
// judged inside the intent's transaction (`store/first-intent.store.ts`), and no call is made in there.
import { randomUUID } from 'node:crypto';
import type { Operation, OperationFile } from '../domain/operation.ts';
import { decide, type PolicyVerdict } from '../domain/policy.ts';
import { PRECONDITION_FRESHNESS_MS, type PreconditionAnswer } from '../domain/precondition.ts';
import { factsOf, isIntendedRepeat } from '../operations/policy-facts.ts';
import { definitionOf } from '../operations/registry.ts';
import type { ConnectedProvider } from '../providers/connected-providers.ts';
import type { FirstIntentReading } from '../store/first-intent.store.ts';
import { isHeld } from '../store/holds.store.ts';
import { policyBackground } from '../store/policy-background.store.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { freshness } from './freshness.ts';
import { observeCall } from './observe.ts';
import { contactFor } from './provider-contact.ts';

/** Shorter than a reading is good for, so that one that came can be used. */
const READ_DEADLINE_MS = 4_000;

/**
 * Undefined for intents after the first. `held`: an operator holds the operation back, and a provider isn't asked for what will not be
 * sent. `lastTry`: preconditions that still can't be read end an operation that nobody had to approve.
 */
export async function readForFirstIntent(
  deps: ActivityDependencies,
  { operation, attempts }: OperationFile,
  requestBody: string,
  lastTry: boolean,
): Promise<FirstIntentReading | 'held' | undefined> {
  if (attempts.length > 0) return undefined;
  const asksProvider = schemeFor(deps.providers(operation.connection), operation) !== undefined;
  if (asksProvider && (await isHeld(deps.pool, operation.operationId))) return 'held';
  const isFresh = freshness(PRECONDITION_FRESHNESS_MS);
  const [verdict, preconditions] = await Promise.all([
    verdictNow(deps, operation),
    readPreconditions(deps, operation, requestBody),
  ]);
  return { verdict, preconditions, isFresh, lastTry, approvalId: `apr_${randomUUID()}` };
}

/** Asked also where the policy hasn't changed: only what it says of the command itself proves that nobody had to be asked. */
async function verdictNow(
  { policy, pool }: ActivityDependencies,
  operation: Operation,
): Promise<PolicyVerdict> {
  const definition = definitionOf(operation.kind, operation.kindVersion);
  if (!definition) throw new Error(`${operation.kind} ${operation.kindVersion} is not registered`);
  const { owner, targetCommand } = await policyBackground(pool, operation.operationId);
  const facts = factsOf(definition, { ...operation, owner }, targetCommand);
  const isTwin = operation.possibleDuplicateOf !== null && !isIntendedRepeat(operation.command);
  return decide(policy(), { ...facts, possibleDuplicate: isTwin });
}

/** Undefined for kinds that have none. */
export async function readPreconditions(
  deps: ActivityDependencies,
  operation: Operation,
  requestBody: string,
): Promise<PreconditionAnswer | undefined> {
  const provider = deps.providers(operation.connection);
  const scheme = schemeFor(provider, operation);
  if (!scheme) return undefined;
  const { answer } = await observeCall(deps, operation, 'precondition', undefined, (traceparent) =>
    scheme.read(
      contactFor(operation, provider, { requestBody, deadlineMs: READ_DEADLINE_MS, traceparent }),
    ),
  );
  return answer;
}

/** How the provider is asked for the preconditions of this operation; undefined for kinds that have none. */
export function schemeFor({ adapter }: ConnectedProvider, { kind }: Operation) {
  return adapter.preconditions?.kinds.includes(kind) ? adapter.preconditions : undefined;
}

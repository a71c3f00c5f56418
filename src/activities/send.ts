// The send itself: intent, call, outcome. What is durable before and after each step stands beside it.
import { SEND_FRESHNESS_MS } from '../domain/execution-plan.ts';
import { fingerprintOf } from '../domain/fingerprint.ts';
import {
  needsReconciliation,
  type Attempt,
  type Operation,
  type OperationFile,
} from '../domain/operation.ts';
import { isSettled } from '../domain/operation-state.ts';
import type { WriteOutcome } from '../domain/outcome.ts';
import type { ConnectedProvider } from '../providers/connected-providers.ts';
import { commitIntent, storeAttemptOutcome } from '../store/attempts.store.ts';
import { reviewChangedCommand } from '../store/reviews.store.ts';
import type { DispatchStep, OperationInput } from '../workflows/activities.contract.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { readForFirstIntent } from './first-intent.ts';
import { freshness } from './freshness.ts';
import {
  alertUnproved,
  observeAttempt,
  observeCall,
  observeIntent,
  type Timed,
} from './observe.ts';
import { contactFor } from './provider-contact.ts';
import { rowSeen } from './row-seen.ts';

/** Contract §4: a held operation asks again every 5 to 30 s. */
const HELD_ASK_AGAIN_MS = 10_000;

/** Storing an answer is tried again through a short outage; after that the workflow keeps it and records it later. */
const STORE_TRIES = 5;
const STORE_PAUSE_MS = 1_000;

/** Sends an operation as its next attempt, or finds that it must not be sent. `lastTry`: see `readForFirstIntent`. */
export async function send(
  deps: ActivityDependencies,
  input: OperationInput,
  read: OperationFile,
  purpose: Attempt['purpose'],
  lastTry = false,
): Promise<DispatchStep> {
  const { operation, attempts } = read;
  const provider = deps.providers(operation.connection);
  if (!commandUnchanged(input, read) || !serves(provider, operation)) {
    await reviewChangedCommand(deps.pool, operation.operationId);
    return { next: 'done' };
  }
  const requestBody =
    attempts[0]?.requestBody ??
    provider.adapter.requestFor(operation.kind, operation.command, operation.plan.target);
  const number = (attempts.at(-1)?.number ?? 0) + 1;
  const reading = await readForFirstIntent(deps, read, requestBody, lastTry);
  if (reading === 'held') return { next: 'held', in_ms: HELD_ASK_AGAIN_MS };
  // From here on the intent is fresh or it isn't sent: measured from before the commit, so a stall inside it counts.
  const isFresh = freshness(SEND_FRESHNESS_MS);
  const intent = { number, purpose, requestBody, worker: deps.worker };
  const begun = await commitIntent(deps.pool, read, intent, { desk: deps.desk, reading });
  if (begun === 'unproved') alertUnproved(deps, operation.operationId);
  if (begun === 'ended' || begun === 'unproved') return { next: 'done' };
  if (begun === 'unapproved') return { next: 'await_approval' };
  if (begun === 'unreadable') return { next: 'unreadable' };
  if (begun === 'held') return { next: 'held', in_ms: HELD_ASK_AGAIN_MS };
  if (!begun) return { next: 'again' };
  // Durable: the intent. If this process ends now, whoever comes next finds it and asks before anything else.
  observeIntent(deps, read, begun, number);
  const { provider_deadline_ms: deadlineMs } = operation.plan;
  const sent: Timed<WriteOutcome> = isFresh()
    ? await observeCall(deps, operation, 'write', number, (traceparent) => {
        const contact = { requestBody, deadlineMs, traceparent };
        return provider.adapter.write(contactFor(operation, provider, contact));
      })
    : { answer: { status: 'not_sent', reason: 'intent_stale', evidence: {} }, durationMs: 0 };
  return storeOutcome(deps, begun, number, sent);
}

/** One that serves somebody else was written into the row: it would act with another account's credential. */
function serves({ connection }: ConnectedProvider, { accountId, kind }: Operation): boolean {
  return connection.accounts.includes(accountId) && connection.kinds.includes(kind);
}

/** Contract §6.8: what is about to be sent must be what was claimed, in the row and in the engine, and wait for people where it did. */
function commandUnchanged(input: OperationInput, { operation }: OperationFile): boolean {
  const computed = fingerprintOf({
    accountId: operation.accountId,
    kind: operation.kind,
    kindVersion: operation.kindVersion,
    command: operation.command,
  });
  const asked = input.plan.awaits_approval && !operation.plan.awaits_approval;
  return computed === operation.fingerprint && computed === input.fingerprint && !asked;
}

async function storeOutcome(
  deps: ActivityDependencies,
  begun: OperationFile,
  number: number,
  sent: Timed<WriteOutcome>,
): Promise<DispatchStep> {
  const { status: from } = begun.operation;
  const file = await storeThroughOutage(deps, begun, number, sent.answer);
  if (!file) return { next: 'record', attempt: number, outcome: sent.answer };
  observeAttempt(deps, file, { number, from, ...sent });
  return stepAfter(file);
}

/** Undefined where the database stays away for longer than an activity should wait. */
async function storeThroughOutage(
  deps: ActivityDependencies,
  begun: OperationFile,
  number: number,
  outcome: WriteOutcome,
): Promise<OperationFile | undefined> {
  for (let tries = 1; ; tries++) {
    try {
      return await storeAttemptOutcome(deps.pool, begun, number, outcome);
    } catch (error) {
      const { operationId } = begun.operation;
      const attempt = { operation_id: operationId, attempt_number: number };
      deps.logger.warn({ ...attempt, err: error }, 'outcome not stored yet');
      if (tries === STORE_TRIES) return undefined;
      await new Promise((resolve) => setTimeout(resolve, STORE_PAUSE_MS));
    }
  }
}

/** What the workflow does next, once the outcome is in the row. */
export function stepAfter(file: OperationFile): DispatchStep {
  const { status } = file.operation;
  const row = rowSeen(file.operation);
  if (isSettled(status) || status === 'NEEDS_REVIEW') return { next: 'done', row };
  if (needsReconciliation(file)) return { next: 'reconcile', row };
  return { next: 'retry', attempt: file.attempts.at(-1)?.number ?? 1, row };
}

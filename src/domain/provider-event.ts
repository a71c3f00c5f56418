// What a provider tells by itself (a webhook), and what it does to an operation. Events come late, twice and out of order, so an
// event counts as evidence about one object in one state, never as a command.
import type { Attempt, Operation } from './operation.ts';
import { operationProblem } from './operation-problem.ts';
import { isSettled } from './operation-state.ts';
import type { OperationResult } from './outcome.ts';
import { changeByDefinite, changeByReview, type Change } from './settlement.ts';

/** An event whose signature was checked. */
export interface ProviderEvent {
  readonly eventId: string;
  /** The provider's id of the object it is about. */
  readonly reference: string;
  /** Our token, where the provider tells it. */
  readonly token: string | undefined;
  readonly state: 'done' | 'pending' | 'failed';
  /** When what it tells happened, RFC 3339; not when it was sent. */
  readonly happenedAt: string;
  /** The provider says that it speaks of an earlier try of the same object. */
  readonly ofEarlierAttempt: boolean;
  readonly result: OperationResult;
}

/** One connection's door for events, with its secret and its provider's signature scheme inside. */
export interface EventReceiver {
  readonly connection: string;
  /** The event, or undefined where its signature is wrong or old, or it can't be read. */
  read(body: string, header: (name: string) => string | undefined): ProviderEvent | undefined;
  /** True where the object in the event has the parameters that were sent, or the bytes to compare with are gone. */
  matches(body: string, kind: string, requestBody: string | null): boolean;
}

export type EventReceivers = (connectionName: string) => EventReceiver | undefined;

/** What an event does. `matches`: the object has the parameters that were sent. */
export function changeByEvent(
  operation: Operation,
  attempts: readonly Attempt[],
  event: ProviderEvent,
  matches: boolean,
): Change | undefined {
  if (event.state === 'pending') return undefined;
  if (!matches) return changeByMismatch(operation, event);
  if (event.state === 'done') {
    const { reference, result } = event;
    return changeByDefinite(operation, { status: 'succeeded', reference, result });
  }
  return isNews(operation, attempts, event)
    ? changeByDefinite(operation, {
        status: 'failed',
        error: operationProblem('provider_declined'),
      })
    : undefined;
}

/** An object of ours with other parameters is nobody's to adopt: a person looks, if it is open or if a person has said otherwise. */
function changeByMismatch(
  operation: Operation,
  { state, reference, result }: ProviderEvent,
): Change | undefined {
  if (isSettled(operation.status) && state === 'failed') return undefined;
  const settledAsDone = operation.status === 'SUCCEEDED';
  return settledAsDone
    ? changeByDefinite(operation, { status: 'succeeded', reference, result })
    : changeByReview(operation, 'effect_contrary');
}

/**
 * A failure counts if it is of the newest attempt; against a success only if it is of the same object and newer than what settled it,
 * or if a person settled it (contract §2). Otherwise it is the late word of an earlier try.
 */
function isNews(operation: Operation, attempts: readonly Attempt[], event: ProviderEvent): boolean {
  const newestAttempt = attempts.at(-1)?.startedAt ?? operation.createdAt;
  if (event.ofEarlierAttempt || isBefore(event.happenedAt, newestAttempt)) return false;
  if (operation.status !== 'SUCCEEDED') return true;
  const { providerReference, resolvedBy } = operation;
  const sameObject = providerReference === event.reference;
  if (resolvedBy !== null) return sameObject || providerReference === null;
  return sameObject && isBefore(operation.settledAt ?? event.happenedAt, event.happenedAt);
}

function isBefore(one: string, other: string): boolean {
  return Date.parse(one) < Date.parse(other);
}

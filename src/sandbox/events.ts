// What events tell, and what that makes of the object they tell of.
import { randomBytes, randomUUID } from 'node:crypto';
import { newId } from './kinds.ts';
import { objectOf, type Effect, type EffectState, type WriteRequest } from './records.ts';
import type { World } from './world.ts';

/** Whether an event tells of the write itself or of an older try at the same object. */
export type Attempt = 'current' | 'earlier';

/** An event as a receiver gets it. */
export interface ProviderEvent {
  readonly id: string;
  /** `<kind>.<what happened>`. */
  readonly type: string;
  /** When what it tells happened. */
  readonly created_at: string;
  readonly attempt: Attempt;
  readonly data: { readonly object: Record<string, unknown> };
}

const STATES_TOLD: ReadonlyMap<string, EffectState> = new Map([
  ['succeeded', 'done'],
  ['captured', 'done'],
  ['failed', 'failed'],
]);

/** An older try lies well before the write and before all that a client did for it. */
const EARLIER_BY_MS = 3_600_000;

/** An id that no event has yet. */
export const newEventId = (): string => `evt_${randomBytes(12).toString('hex')}`;

const kindOf = (type: string) => type.slice(0, type.indexOf('.'));
/** What is neither an end nor a failure (`authorized`, …) is told of an object on its way. */
const stateTold = (type: string) => STATES_TOLD.get(type.slice(type.indexOf('.') + 1)) ?? 'pending';

/** Makes the event, and lets the object of the write take the state that it tells. An older try changes no object. */
export function tell(
  world: World,
  write: WriteRequest,
  type: string,
  attempt: Attempt,
): ProviderEvent {
  if (attempt === 'earlier') return tellOfEarlierTry(world, write, type);
  const state = stateTold(type);
  const effect = world.takeState(write, state);
  // The object as it was when this happened: an event that comes late shows an earlier state than a lookup does by then.
  return eventOf(type, attempt, timeOf(effect, state), { ...objectOf(effect), state });
}

/** An event about an object that nobody wrote. */
export function tellOfUnknown(type: string): ProviderEvent {
  const kind = kindOf(type);
  const created_at = new Date().toISOString();
  const made = { amount: '1000', currency: 'USD', token: randomUUID(), created_at };
  const object = { id: newId(kind), object: kind, state: stateTold(type), ...made };
  return eventOf(type, 'current', created_at, object);
}

function tellOfEarlierTry(world: World, write: WriteRequest, type: string): ProviderEvent {
  const effect = world.effectOf(write);
  const now = effect === undefined ? Date.now() : Date.parse(effect.created_at);
  const created_at = new Date(now - EARLIER_BY_MS).toISOString();
  const { kind, token, request } = write;
  const shown = effect ? objectOf(effect) : { ...request, id: newId(kind), object: kind, token };
  return eventOf(type, 'earlier', created_at, { ...shown, state: stateTold(type), created_at });
}

/** When the object took the state told; of a state that it doesn't have, only the telling has a time. */
function timeOf(effect: Effect, told: EffectState): string {
  if (told === 'pending') return effect.created_at;
  if (told !== effect.state) return new Date().toISOString();
  return effect.settled_at ?? effect.created_at;
}

function eventOf(
  type: string,
  attempt: Attempt,
  created_at: string,
  object: Record<string, unknown>,
): ProviderEvent {
  return { id: newEventId(), type, created_at, attempt, data: { object } };
}

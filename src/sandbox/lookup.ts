// How the provider answers when it is asked what became of a write.
import type { CallLog } from './calls.ts';
import type { Faults, LookupMode } from './faults.ts';
import { objectOf, standingObjectOf, textsOf, type Effect } from './records.ts';
import type { World } from './world.ts';

/** One question: exactly one of `token` and `reference` is given. */
export interface Question {
  readonly account: string;
  readonly kind: string;
  readonly token?: string | undefined;
  readonly reference?: string | undefined;
  readonly operation_id: string | null;
}

/** The objects found; undefined where lookups are down. */
export function lookUp(
  { world, faults, calls }: { world: World; faults: Faults; calls: CallLog },
  question: Question,
  defaultLagMs: number,
): Record<string, unknown>[] | undefined {
  const effects = effectsAskedFor(world, question);
  const asked = faults.lookups.newest(question.kind, textsAskedAbout(calls, question, effects));
  if (asked?.mode === 'down') return undefined;
  const now = Date.now();
  if (asked?.mode === 'hidden_for' && now < asked.until) return [];
  const visible = effects.filter((effect) => {
    const lag = faults.visibilityLag.newest(effect.kind, textsOf(effect)) ?? defaultLagMs;
    return now >= Date.parse(effect.created_at) + lag;
  });
  const standing = world.standing(question.kind, question.reference ?? '');
  const shown = visible.map((effect) => objectOf(effect, world.refundedOf(effect)));
  const objects = [...shown, ...(standing ? [standingObjectOf(standing)] : [])];
  return distort(objects, asked?.mode ?? 'up');
}

function effectsAskedFor(world: World, question: Question): Effect[] {
  const { account, kind, token, reference } = question;
  const byId = reference === undefined ? undefined : world.byId(account, reference);
  const found = token === undefined ? [byId] : world.byToken(account, token);
  return found.filter((effect) => effect !== undefined).filter((effect) => effect.kind === kind);
}

/** A fault meant for a write concerns every question about it, also where the write itself was never carried out. */
function textsAskedAbout(
  calls: CallLog,
  { token, reference, operation_id }: Question,
  effects: readonly Effect[],
): string[] {
  const tokens = new Set([token, ...effects.map((effect) => effect.token)]);
  const writes = [...tokens].flatMap((one) => (one === undefined ? [] : calls.writesOf(one)));
  const own = [token, reference, operation_id].filter((text) => typeof text === 'string');
  return [...own, ...[...writes, ...effects].flatMap(textsOf)];
}

function distort(objects: Record<string, unknown>[], mode: LookupMode): Record<string, unknown>[] {
  if (mode === 'two_matches') {
    return objects.flatMap((object) => [object, { ...object, id: `${String(object['id'])}_twin` }]);
  }
  if (mode !== 'wrong_amount') return objects;
  return objects.map((object) => ({ ...object, ...otherAmount(object['amount']) }));
}

function otherAmount(amount: unknown): Record<string, unknown> {
  return typeof amount === 'string' ? { amount: String(BigInt(amount) + 1n) } : {};
}

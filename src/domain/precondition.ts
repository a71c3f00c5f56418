// What must still be true at the provider when an operation is sent, and what a person was shown of it. The values are the provider's own
// words for the state of the target (a refundable balance, a revision, a deployed version); none of them is a person's data.
import type { Evidence } from './outcome.ts';

/** The state of the target by the names that people read; shown on the card, compared before the first intent. */
export type PreconditionValues = Readonly<Record<string, string>>;

export type PreconditionAnswer =
  | {
      readonly status: 'read';
      readonly values: PreconditionValues;
      /** Why the operation can't be carried out as things stand, in one sentence; null where it can. */
      readonly unmet: string | null;
      readonly evidence: Evidence;
    }
  /** Nothing can be said: it is asked again. */
  | { readonly status: 'unavailable'; readonly evidence: Evidence };

/** A reading older than this says nothing about the moment of the intent (contract §7). */
export const PRECONDITION_FRESHNESS_MS = 5_000;

/** One value that is no longer what a person agreed to; null where there is none on that side. */
export interface Drift {
  readonly name: string;
  readonly shown: string | null;
  readonly now: string | null;
}

/** What has changed between two readings, by name; empty where nothing has. */
export function driftBetween(shown: PreconditionValues, now: PreconditionValues): Drift[] {
  const names = [...new Set([...Object.keys(shown), ...Object.keys(now)])].toSorted();
  return names
    .map((name) => ({ name, shown: shown[name] ?? null, now: now[name] ?? null }))
    .filter((one) => one.shown !== one.now);
}

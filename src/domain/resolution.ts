// When a person may settle what machines could not, and what that does to the operation (contract §4, "Resolve"). Pure; times are
// milliseconds.
import type { ProblemCode } from './error-catalogue.ts';
import { operationProblem } from './operation-problem.ts';
import type { Attempt, Operation } from './operation.ts';
import type { OperationState } from './operation-state.ts';
import type { OperationResult } from './outcome.ts';
import type { Change } from './settlement.ts';

/** What a person says became of an operation. */
export interface Resolution {
  readonly outcome: 'succeeded' | 'failed';
  readonly providerReference: string | null;
  /** The check that was made elsewhere, by name; needed for FAILED where the provider can't be asked. */
  readonly externalCheck: string | null;
}

/** The newest lookup that got an answer: one that reached nobody says nothing. */
export interface AnsweredLook {
  readonly verdict: 'found' | 'absent';
  /** Of what was found; null where nothing was. */
  readonly match: 'matching' | 'contrary' | 'ambiguous' | null;
  readonly state: 'done' | 'pending' | 'failed' | null;
  readonly atMs: number;
}

export interface ResolutionFacts {
  readonly operation: Pick<Operation, 'status' | 'plan'>;
  readonly attempts: readonly Attempt[];
  readonly nowMs: number;
  readonly owner: string;
  /** Owners of all who submitted it, under whatever key. */
  readonly submitterOwners: readonly string[];
  /** False where the adapter's card has no lookup. */
  readonly canLookUp: boolean;
  readonly lastLook: AnsweredLook | undefined;
}

export interface Refusal {
  readonly code: ProblemCode;
  readonly detail: string;
}

const RESOLVABLE: ReadonlySet<OperationState> = new Set(['UNKNOWN', 'RECONCILING', 'NEEDS_REVIEW']);

/** What the provider said earlier than this may have changed since. */
const LONGEST_LOOK_AGE_MS = 10 * 60_000;

/** Why this person may not resolve this operation so now; undefined where they may. */
export function refusalToResolve(
  resolution: Resolution,
  facts: ResolutionFacts,
): Refusal | undefined {
  if (facts.submitterOwners.includes(facts.owner)) {
    return { code: 'own_request', detail: 'Somebody of another owner has to resolve this.' };
  }
  if (!RESOLVABLE.has(facts.operation.status)) {
    return {
      code: 'wrong_state',
      detail: 'Only an unknown operation or one that waits for a person can be resolved.',
    };
  }
  return refusalByWindow(resolution, facts) ?? refusalByLook(resolution, facts);
}

function refusalByWindow(resolution: Resolution, facts: ResolutionFacts): Refusal | undefined {
  const blocking = facts.attempts.filter((one) => mayStillAct(one, resolution.outcome));
  if (facts.nowMs >= endOfWindow(blocking, facts)) return undefined;
  return {
    code: 'not_resolvable',
    detail: 'A write may still take effect at the provider; resolve it when its time has passed.',
  };
}

/**
 * An attempt that never had an answer may still be under way, so nothing is said about it. For FAILED one whose answer was lost counts
 * too: its effect may still be to come.
 */
function mayStillAct(attempt: Attempt, outcome: Resolution['outcome']): boolean {
  if (attempt.outcome !== 'unknown') return attempt.outcome === null;
  return outcome === 'failed' || attempt.error?.code === 'worker_lost';
}

/** When the last of these attempts can no longer take effect; long ago where there are none. */
function endOfWindow(attempts: readonly Attempt[], { operation }: ResolutionFacts): number {
  const started = attempts.map((one) => Date.parse(one.startedAt));
  return Math.max(...started) + operation.plan.reconcile.send_window_ms;
}

function refusalByLook(
  { outcome, externalCheck }: Resolution,
  facts: ResolutionFacts,
): Refusal | undefined {
  if (outcome === 'succeeded') return undefined;
  if (!facts.canLookUp) {
    return externalCheck === null
      ? lookupRequired('This provider has no lookup: name the check you made in external_check.')
      : undefined;
  }
  const { lastLook, nowMs } = facts;
  if (!lastLook || nowMs - lastLook.atMs > LONGEST_LOOK_AGE_MS) {
    return lookupRequired('Have the provider asked first (reconcile); its answer counts 10 min.');
  }
  if (!showsNoEffect(lastLook)) {
    return lookupRequired('The provider shows it as done or pending, so it did not fail.');
  }
  return looksTooEarly(facts, lastLook)
    ? lookupRequired('The provider was asked too early to see the last write; ask again.')
    : undefined;
}

/** Where two are found one of them may be done, whatever the other is. */
function showsNoEffect({ verdict, match, state }: AnsweredLook): boolean {
  return verdict === 'absent' || (match !== 'ambiguous' && state === 'failed');
}

/** As in reconciliation: before send window and visibility lag have passed, "not found" proves nothing. */
function looksTooEarly(facts: ResolutionFacts, { atMs }: AnsweredLook): boolean {
  const unresolved = facts.attempts.filter((one) => mayStillAct(one, 'failed'));
  return atMs < endOfWindow(unresolved, facts) + facts.operation.plan.reconcile.visibility_lag_ms;
}

function lookupRequired(detail: string): Refusal {
  return { code: 'lookup_required', detail };
}

/** The first of two equal resolutions, by somebody of that owner. */
export interface Proposal extends Pick<Resolution, 'outcome' | 'providerReference'> {
  readonly owner: string;
}

/**
 * What a resolution that is allowed does where two people are needed: the second equal one of another owner applies, any other waits.
 * The same owner's repeat is refused, because it is no second person.
 */
export function stepOfTwo(
  resolution: Resolution,
  owner: string,
  proposals: readonly Proposal[],
): 'apply' | 'wait' | 'same_person' {
  const equal = proposals.filter(
    (one) =>
      one.outcome === resolution.outcome && one.providerReference === resolution.providerReference,
  );
  if (equal.some((one) => one.owner !== owner)) return 'apply';
  return equal.length > 0 ? 'same_person' : 'wait';
}

/** An effect that evidence of the provider names. */
export interface KnownEffect {
  readonly reference: string;
  readonly result: OperationResult;
}

/** The change that a person's resolution is; `known` are effects that the provider has shown, newest last. */
export function changeByPerson(
  operation: Operation,
  { outcome, providerReference }: Resolution,
  known: readonly KnownEffect[],
  resolvedBy: string,
): Change {
  if (outcome === 'failed') {
    return { to: 'FAILED', error: operationProblem('resolved_as_failed'), resolvedBy };
  }
  const reference =
    providerReference ?? operation.providerReference ?? known.at(-1)?.reference ?? undefined;
  if (reference === undefined) return { to: 'SUCCEEDED', resolvedBy };
  const shown = known.findLast((one) => one.reference === reference)?.result;
  const kept = operation.providerReference === reference ? operation.result : null;
  return {
    to: 'SUCCEEDED',
    providerReference: reference,
    // Nobody has shown more of it than its name.
    result: shown ?? kept ?? { provider_reference: reference },
    resolvedBy,
  };
}

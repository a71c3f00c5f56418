// How a lost answer is settled: what one look at the provider means, and when to look again. Pure; times are milliseconds.
import type { ReconciliationPlan } from './execution-plan.ts';
import { operationProblem } from './operation-problem.ts';
import type { ReviewReason } from './operation.ts';
import type { LookupAnswer, UnknownReason } from './outcome.ts';
import type { Definite } from './settlement.ts';

const FIVE_MINUTES_MS = 5 * 60_000;
const ONE_HOUR_MS = 60 * 60_000;

/** What the ledger knows when a look is judged. */
export interface Situation {
  readonly plan: ReconciliationPlan;
  readonly nowMs: number;
  /** Since when the outcome has been open: the first unknown or pending answer. */
  readonly openSinceMs: number;
  readonly lastIntentMs: number;
  /** The provider has accepted a write and will still say what came of it: nothing is sent again, and silence proves nothing. */
  readonly accepted: boolean;
  /** Why answers to writes could not be taken as definite, of all attempts. */
  readonly unknownReasons: readonly UnknownReason[];
  /** Times of looks since the last finding that found nothing, newest last. */
  readonly absentLooksMs: readonly number[];
  readonly resends: number;
  /** The newest attempt was definitely refused, so it decided nothing. */
  readonly lastRefused: boolean;
  readonly safeResendUntilMs: number;
}

export type NextStep =
  | { readonly next: 'settle'; readonly definite: Definite }
  | { readonly next: 'review'; readonly reason: ReviewReason }
  | { readonly next: 'resend' }
  | { readonly next: 'look'; readonly inMs: number };

/** Judges the answer to a look. Only a match settles; absence counts after the send window, twice, and leads to one resend at most. */
export function judgeLook(answer: LookupAnswer, situation: Situation): NextStep {
  switch (answer.status) {
    case 'found':
      return judgeFound(answer, situation);
    case 'absent':
      return judgeAbsent(situation);
    case 'unavailable':
      return lookAgain(situation);
  }
}

function judgeFound(
  answer: Extract<LookupAnswer, { status: 'found' }>,
  situation: Situation,
): NextStep {
  switch (answer.match) {
    case 'ambiguous':
      return review('effect_ambiguous');
    case 'contrary':
      return review('effect_contrary');
    case 'matching':
      return judgeMatch(answer, situation);
  }
}

function judgeMatch(
  { state, references, result }: Extract<LookupAnswer, { status: 'found' }>,
  situation: Situation,
): NextStep {
  if (state === 'pending') return lookAgain(situation);
  if (state === 'failed') {
    const error = operationProblem('provider_declined');
    return { next: 'settle', definite: { status: 'failed', error } };
  }
  const [reference = ''] = references;
  return { next: 'settle', definite: { status: 'succeeded', reference, result } };
}

function judgeAbsent(situation: Situation): NextStep {
  const { plan, nowMs, lastIntentMs } = situation;
  if (situation.accepted) return lookAgain(situation);
  const countsFromMs = lastIntentMs + plan.send_window_ms + plan.visibility_lag_ms;
  if (nowMs < countsFromMs) return lookAgain(situation, countsFromMs - nowMs);
  const agreeing = situation.absentLooksMs.some(
    (at) => at >= countsFromMs && nowMs - at >= plan.agreeing_spacing_ms,
  );
  if (!agreeing) return lookAgain(situation, plan.agreeing_spacing_ms);
  return afterCertainAbsence(situation);
}

/** Nothing is there and nothing can still arrive, as far as the provider's card goes. */
function afterCertainAbsence(situation: Situation): NextStep {
  const { plan, unknownReasons } = situation;
  if (unknownReasons.includes('token_mismatch')) return review('provider_parameter_mismatch');
  if (mayResend(situation)) return resendInTurn(situation);
  // The provider said that an earlier attempt is there or runs: then its silence now is no proof of the contrary.
  const saidOtherwise =
    unknownReasons.includes('in_use') || unknownReasons.includes('already_exists');
  if (saidOtherwise) return review('provider_token_in_use');
  if (!plan.absence_is_authoritative) return review('absence_not_proven');
  const error = operationProblem('effect_absent');
  return { next: 'settle', definite: { status: 'failed', error } };
}

function mayResend(situation: Situation): boolean {
  const { plan, nowMs, resends, safeResendUntilMs } = situation;
  return resends < plan.max_resends && nowMs < safeResendUntilMs && leftMs(situation) > 0;
}

/** A provider that refuses is asked again at the pace of looks, not at once. */
function resendInTurn(situation: Situation): NextStep {
  const { plan, nowMs, openSinceMs, lastIntentMs, lastRefused } = situation;
  const restMs = lastIntentMs + delayToNextLook(plan, lastIntentMs - openSinceMs) - nowMs;
  return lastRefused && restMs > 0 ? lookAgain(situation, restMs) : { next: 'resend' };
}

function review(reason: ReviewReason): NextStep {
  return { next: 'review', reason };
}

function lookAgain(situation: Situation, soonerMs = Number.POSITIVE_INFINITY): NextStep {
  const elapsedMs = situation.nowMs - situation.openSinceMs;
  const left = leftMs(situation);
  if (left <= 0) return review('reconcile_deadline');
  const inMs = Math.min(delayToNextLook(situation.plan, elapsedMs), soonerMs, left);
  return { next: 'look', inMs: Math.max(inMs, 100) };
}

/** Milliseconds until a person decides; not positive once the deadline has passed. */
function leftMs({ plan, nowMs, openSinceMs }: Situation): number {
  return openSinceMs + plan.deadline_ms - nowMs;
}

/** First look, then doubling: to 5 minutes within the first hour, to 1 hour after it (contract §6.7). */
export function delayToNextLook(plan: ReconciliationPlan, elapsedMs: number): number {
  // Waiting as long again as it has already been open is what doubling from the first look amounts to.
  if (elapsedMs < ONE_HOUR_MS) {
    return Math.min(Math.max(plan.first_look_ms, elapsedMs), FIVE_MINUTES_MS);
  }
  return Math.min(FIVE_MINUTES_MS + elapsedMs - ONE_HOUR_MS, ONE_HOUR_MS);
}

// The plan: every number a workflow needs, frozen at the claim and handed over as data, so that a changed setting or kind can't
// make a running history diverge. Durations are milliseconds; member names are persisted in rows and histories.
import type { CapabilityCard } from './capability-card.ts';

/** A write may still leave up to this long after its intent was committed; later it is reported as not sent (contract §6.1). */
export const SEND_FRESHNESS_MS = 5_000;

/** Tries after a definite refusal: five in two minutes, then the provider counts as unavailable (contract §6.2). */
export const REFUSAL_DELAYS_MS: readonly number[] = [2_000, 8_000, 30_000, 80_000];

/** Resends allowed once absence is certain: one cures a lost request, more would only hide a broken provider. */
const MAX_RESENDS = 1;

/** Two lookups that agree must be this far apart, so that one stale replica doesn't answer both. */
const AGREEING_LOOKUPS_SPACING_MS = 1_000;

/** Tokens are trusted this much shorter than the provider promises: clocks differ, and a resend takes time. */
const RETENTION_MARGIN_MS = 60_000;

/** A local activity holds a workflow task, so it is used only where the provider answers well within one (ADR 0005). */
const LONGEST_LOCAL_DEADLINE_MS = 8_000;

export interface ReconciliationPlan {
  readonly first_look_ms: number;
  readonly deadline_ms: number;
  /** How long after an intent its write may still take effect at the provider. */
  readonly send_window_ms: number;
  readonly visibility_lag_ms: number;
  readonly agreeing_spacing_ms: number;
  readonly absence_is_authoritative: boolean;
  /** 0 where a resend is no safe move: the token isn't the provider's own. */
  readonly max_resends: number;
}

/** The target as it stands in the plan: whatever happens to it later, this is what the provider is told. */
export interface FrozenTarget {
  readonly operation_id: string;
  readonly provider_reference: string;
  readonly amount_minor: string;
  readonly currency: string;
}

export interface ExecutionPlan {
  readonly dispatch: 'local' | 'regular';
  readonly provider_deadline_ms: number;
  readonly refusal_delays_ms: readonly number[];
  /** A person must decide first. When that offer ends stands in the approval, by the database clock. */
  readonly awaits_approval: boolean;
  /** The earlier operation that this one acts on, as it stood at the claim. */
  readonly target: FrozenTarget | null;
  /** How long after the first intent the provider still knows the token, less a margin. */
  readonly resend_window_ms: number;
  readonly reconcile: ReconciliationPlan;
}

export interface PlanSettings {
  readonly providerDeadlineMs: number;
  readonly reconcile: { readonly firstLookMs: number; readonly deadlineMs: number };
}

/**
 * The plan of an operation that is claimed now, from the settings of the installation and the card of its adapter; the claim adds its
 * target, and whether it waits for approval.
 */
export function planFor(settings: PlanSettings, card: CapabilityCard): ExecutionPlan {
  const deadline = settings.providerDeadlineMs;
  return {
    dispatch: deadline <= LONGEST_LOCAL_DEADLINE_MS ? 'local' : 'regular',
    provider_deadline_ms: deadline,
    refusal_delays_ms: REFUSAL_DELAYS_MS,
    awaits_approval: false,
    target: null,
    resend_window_ms: Math.max(0, card.retentionMs - RETENTION_MARGIN_MS),
    reconcile: {
      first_look_ms: settings.reconcile.firstLookMs,
      deadline_ms: settings.reconcile.deadlineMs,
      send_window_ms: SEND_FRESHNESS_MS + deadline + (card.maxProcessingMs ?? 0),
      visibility_lag_ms: card.visibilityLagMs,
      agreeing_spacing_ms: AGREEING_LOOKUPS_SPACING_MS,
      // Without a bound on processing a late effect can never be ruled out (contract §6.5).
      absence_is_authoritative: card.absenceIsAuthoritative && card.maxProcessingMs !== undefined,
      max_resends: card.token === 'native' ? MAX_RESENDS : 0,
    },
  };
}

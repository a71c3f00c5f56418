import { describe, expect, it } from 'vitest';
import { planFor, REFUSAL_DELAYS_MS, SEND_FRESHNESS_MS } from '../../src/domain/execution-plan.ts';
import { CARD, PLAN_SETTINGS, planOf } from '../support/operation-file.ts';

const withDeadline = (providerDeadlineMs: number) =>
  planFor({ ...PLAN_SETTINGS, providerDeadlineMs }, CARD);

const authoritative = (card: Parameters<typeof planOf>[0]) =>
  planOf(card).reconcile.absence_is_authoritative;

describe('the plan of an operation', () => {
  it('tries five times in two minutes where the provider refuses', () => {
    expect(REFUSAL_DELAYS_MS).toHaveLength(4);
    expect(REFUSAL_DELAYS_MS.reduce((sum, one) => sum + one)).toBe(120_000);
    expect(planOf().refusal_delays_ms).toEqual(REFUSAL_DELAYS_MS);
  });

  it('holds an intent fresh for five seconds', () => {
    expect(SEND_FRESHNESS_MS).toBe(5_000);
  });

  it('reckons with freshness, deadline and processing before it believes in absence', () => {
    expect(planOf().reconcile.send_window_ms).toBe(5_000 + 5_000 + 3_000);
    expect(planOf({ maxProcessingMs: 60_000 }).reconcile.send_window_ms).toBe(70_000);
    expect(withDeadline(30_000).reconcile.send_window_ms).toBe(38_000);
    expect(planOf({ visibilityLagMs: 7_000 }).reconcile.visibility_lag_ms).toBe(7_000);
  });

  it('takes absence for authoritative only where the card says so and bounds processing', () => {
    expect(authoritative({})).toBe(true);
    expect(authoritative({ absenceIsAuthoritative: false })).toBe(false);
    expect(authoritative({ maxProcessingMs: undefined })).toBe(false);
  });

  it('allows one resend with a native token, and none with any other', () => {
    expect(planOf().reconcile.max_resends).toBe(1);
    for (const token of ['client_id', 'natural_key', 'marker', 'none'] as const) {
      expect(planOf({ token }).reconcile.max_resends).toBe(0);
    }
  });

  it('stops resends some time before the provider forgets the token', () => {
    expect(planOf().resend_window_ms).toBeLessThan(CARD.retentionMs);
    expect(planOf().resend_window_ms).toBe(CARD.retentionMs - 60_000);
    expect(planOf({ retentionMs: 1_000 }).resend_window_ms).toBe(0);
  });

  it('runs quick calls within the workflow task, slow ones as their own activity', () => {
    expect(withDeadline(5_000).dispatch).toBe('local');
    expect(withDeadline(30_000).dispatch).toBe('regular');
  });

  it('says whether a person decides first', () => {
    expect(planOf({}, true).awaits_approval).toBe(true);
    expect(planOf({}, false).awaits_approval).toBe(false);
  });

  it('is plain data that survives JSON, because rows and histories keep it', () => {
    expect(JSON.parse(JSON.stringify(planOf()))).toEqual(planOf());
  });

  it('keeps the names that stored plans have', () => {
    const plan = planOf();
    for (const name of [
      'awaits_approval',
      'dispatch',
      'provider_deadline_ms',
      'reconcile',
      'refusal_delays_ms',
      'resend_window_ms',
    ]) {
      expect(plan).toHaveProperty(name);
    }
    for (const name of [
      'absence_is_authoritative',
      'agreeing_spacing_ms',
      'deadline_ms',
      'first_look_ms',
      'max_resends',
      'send_window_ms',
      'visibility_lag_ms',
    ]) {
      expect(plan.reconcile).toHaveProperty(name);
    }
  });
});

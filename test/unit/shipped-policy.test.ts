// policies/default.yaml is the column "approval by default" of the contract, §5.
import { describe, expect, it } from 'vitest';
import { parseMoney } from '../../src/domain/money.ts';
import { decide, type PolicyFacts } from '../../src/domain/policy.ts';
import { KINDS } from '../../src/operations/registry.ts';
import { factsWith, SHIPPED_POLICY } from '../support/policy.ts';

const said = (kind: string, facts: Partial<PolicyFacts> = {}) =>
  decide(SHIPPED_POLICY, factsWith({ kind, ...facts }));

const money = (amount: string, currency: string) => {
  const parsed = parseMoney(amount, currency);
  return parsed.ok ? { money: parsed.money } : {};
};

describe('the policy that is shipped', () => {
  it.each(['payment', 'refund'])('holds a %s from the threshold of its currency on', (kind) => {
    const half = kind === 'refund' ? 2 : 1;
    for (const [currency, threshold, below] of [
      ...['USD', 'EUR', 'GBP', 'CHF', 'CAD', 'AUD'].map(
        (code) => [code, 1_000 / half, `${1_000 / half - 1}.99`] as const,
      ),
      ['JPY', 150_000 / half, `${150_000 / half - 1}`] as const,
    ]) {
      expect([currency, said(kind, money(String(threshold), currency)).verdict]).toEqual([
        currency,
        'require_approval',
      ]);
      expect([currency, said(kind, money(below, currency)).verdict]).toEqual([currency, 'allow']);
    }
  });

  it.each(['payment', 'refund'])('holds a %s in a currency without threshold', (kind) => {
    expect(said(kind, money('0.001', 'KWD')).verdict).toBe('require_approval');
    expect(said(kind, money('1', 'KRW')).verdict).toBe('require_approval');
  });

  it.each([
    ['payment_capture', {}, 'allow'],
    ['payment_capture', money('9999.00', 'USD'), 'allow'],
    ['ticket', { target: 'T-APPROVAL' }, 'allow'],
    ['ticket_comment', { target: 'T-1' }, 'allow'],
    ['ticket_comment', { target: 'T-APPROVAL' }, 'require_approval'],
    ['ticket_status', { target: 'T-APPROVAL' }, 'allow'],
    ['deployment', { environment: 'production' }, 'require_approval'],
    ['deployment', { environment: 'staging' }, 'allow'],
    ['rollback', { environment: 'production' }, 'require_approval'],
    ['rollback', { environment: 'staging' }, 'allow'],
    ['customer_account', {}, 'allow'],
    ['order', money('9999.00', 'USD'), 'allow'],
    ['order_cancel', {}, 'allow'],
    ['appointment', {}, 'allow'],
    ['invitation', { role: 'member' }, 'allow'],
    ['invitation', { role: 'admin' }, 'require_approval'],
    ['invitation', { role: 'owner' }, 'require_approval'],
    ['cloud_resource', { environment: 'production' }, 'allow'],
    ['cloud_resource_delete', { environment: 'production' }, 'require_approval'],
    ['cloud_resource_delete', { environment: 'staging' }, 'allow'],
    ['cloud_resource_delete', {}, 'allow'],
    ['http_request', {}, 'require_approval'],
  ] as const)('decides on a %s of %j: %s', (kind, facts, verdict) => {
    expect(said(kind, facts).verdict).toBe(verdict);
  });

  it('marks a possible duplicate and does not hold it', () => {
    const twin = { possibleDuplicate: true, ...money('1.00', 'USD') };
    expect(said('payment', twin).verdict).toBe('allow');
  });

  it('speaks of every kind that there is, but for requests that are written in the configuration', () => {
    const spokenOf = SHIPPED_POLICY.rules.flatMap(({ when }) => when.kind ?? []);
    for (const kind of KINDS) if (kind !== 'http_request') expect(spokenOf).toContain(kind);
  });

  it('repeats no data of the command in what it says', () => {
    const { reasons } = said('payment', { ...money('7777.00', 'USD'), destination: 'cus_planted' });
    expect(reasons.join()).not.toMatch(/777|planted/);
  });
});

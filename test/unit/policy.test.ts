import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MINOR_UNIT_DIGITS } from '../../src/domain/currencies.ts';
import { parseMoney, type Money } from '../../src/domain/money.ts';
import { paymentPolicy } from '../../src/domain/policy.ts';

function money(amount: string, currency: string): Money {
  const parsed = parseMoney(amount, currency);
  if (!parsed.ok) throw new Error(parsed.detail);
  return parsed.money;
}
const verdict = (amount: string, currency: string) =>
  paymentPolicy(money(amount, currency)).verdict;

describe('the policy on payments', () => {
  it.each([
    ['USD', '999.99', '1000.00'],
    ['EUR', '999.99', '1000.00'],
    ['JPY', '149999', '150000'],
  ])('holds %s from its threshold on', (currency, below, from) => {
    expect(verdict(below, currency)).toBe('allow');
    expect(verdict(from, currency)).toBe('require_approval');
  });

  it('holds every amount of a currency that is not listed', () => {
    for (const currency of ['KWD', 'SEK', 'CLP']) {
      expect(verdict('1', currency)).toBe('require_approval');
    }
  });

  it('counts above 2^53 exactly', () => {
    expect(verdict('9999999999999.99', 'USD')).toBe('require_approval');
  });

  it('gives a reason that holds no amount', () => {
    for (const amount of ['777.77', '7777.77']) {
      expect(paymentPolicy(money(amount, 'USD')).reason).not.toContain('777');
    }
  });

  it('never holds less for more money', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...MINOR_UNIT_DIGITS.entries()),
        fc.integer({ min: 1, max: 10_000_000 }),
        fc.nat(10_000_000),
        ([currency, digits], minor, more) => {
          const of = (n: number) => paymentPolicy({ currency, digits, minor: String(n) }).verdict;
          if (of(minor) === 'require_approval') expect(of(minor + more)).toBe('require_approval');
        },
      ),
    );
  });
});

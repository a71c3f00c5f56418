import { describe, expect, it } from 'vitest';
import { amountOfMinor, moneyAtRisk } from '../../src/domain/money-at-risk.ts';
import { operationOf, planOf } from '../support/operation-file.ts';

const target = (amount_minor: string, currency: string) => ({
  ...planOf(),
  target: { operation_id: 'op_0', provider_reference: 'pay_0', amount_minor, currency },
});

describe('money at risk', () => {
  it('is the amount of the command', () => {
    expect(moneyAtRisk(operationOf())).toEqual({ amount: '10.00', currency: 'USD' });
  });

  it.each([
    ['1050', 'USD', '10.50'],
    ['1050', 'JPY', '1050'],
    ['1050', 'BHD', '1.050'],
  ])('is the frozen amount of the target: %s %s', (minor, currency, amount) => {
    expect(moneyAtRisk(operationOf({ plan: target(minor, currency) }))).toEqual({
      amount,
      currency,
    });
  });

  it('is what the target holds and not what the command asked for', () => {
    const plan = target('250', 'USD');
    expect(moneyAtRisk(operationOf({ plan }))?.amount).toBe('2.50');
  });

  it.each([
    ['no amount', { title: 'x' }],
    ['an amount without currency', { amount: '1.00' }],
    ['words that are no money', { amount: 'some', currency: 'USD' }],
    ['an amount that is no text', { amount: 5, currency: 'USD' }],
    ['a currency that is none', { amount: '1.00', currency: 'XXX' }],
  ])('is null for a command with %s', (_, command) => {
    expect(moneyAtRisk(operationOf({ command }))).toBeNull();
  });

  it('keeps sums exact that no double holds', () => {
    expect(amountOfMinor('99999999999999999999', 'USD')?.amount).toBe('999999999999999999.99');
  });
});

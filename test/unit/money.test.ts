import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CURRENCIES_PUBLISHED, MINOR_UNIT_DIGITS } from '../../src/domain/currencies.ts';
import {
  compareMoney,
  formatAmount,
  MAX_MINOR_DIGITS,
  minorOf,
  normaliseCurrency,
  parseMoney,
} from '../../src/domain/money.ts';
import { vectorJson } from '../support/vectors.ts';

interface ListedCurrency {
  readonly code: string;
  readonly minor_units: number | null;
}
const list: { published: string; currencies: ListedCurrency[] } = vectorJson(
  'iso4217/minor-units.json',
);

const NOT_AMOUNTS = [
  ['1e3', '1E3', '+10.00', ' 10.00', '10.00 ', '10,00', '1,000.00', '1.000,00', '0x10', 'NaN'],
  ['Infinity', '-5.00', '-0.00', '0', '0.00', '', '.5', '5.', '1_000', '10.00\n', '１０.00'],
  ['١٠.00', '10.00USD', '--1', 'ten', 'abc', '010.00', '00', '10.0.0', '10.001', '10.000'],
].flat();

const minor = (amount: string, currency: string) => {
  const result = parseMoney(amount, currency);
  return result.ok ? result.money.minor : result.pointer;
};
const money = (amount: string, currency: string) => {
  const result = parseMoney(amount, currency);
  if (!result.ok) throw new Error(result.detail);
  return result.money;
};

describe('currencies', () => {
  it('are those of the ISO 4217 list that have a minor unit, with its digits', () => {
    const payable = list.currencies.filter(({ minor_units }) => minor_units !== null);
    expect(CURRENCIES_PUBLISHED).toBe(list.published);
    expect(MINOR_UNIT_DIGITS).toEqual(
      new Map(payable.map(({ code, minor_units }) => [code, minor_units])),
    );
  });

  it('leave out codes without a minor unit and withdrawn codes', () => {
    const withdrawn: { codes: { code: string }[] } = vectorJson('iso4217/withdrawn-examples.json');
    const without = list.currencies.filter(({ minor_units }) => minor_units === null);
    const codes = [...withdrawn.codes, ...without].map(({ code }) => code);
    expect(codes.length).toBeGreaterThan(20);
    for (const code of codes) expect(minor('10.00', code)).toBe('/currency');
  });

  it.each(['usd', 'Usd', 'USD'])('are upper-cased: %s', (code) => {
    expect(normaliseCurrency(code)).toBe('USD');
  });

  it.each(['u\u017fd', 'U\u017fD', 'US', 'USDT', '', '978', ' USD', 'USD\n', 'ＵＳＤ'])(
    'refuse %j',
    (code) => {
      expect(normaliseCurrency(code)).toBeUndefined();
    },
  );

  it('refuse every letter that only becomes ASCII by a change of case', () => {
    const maps: Record<'toUpperCase' | 'toLowerCase', { cp: string; to: string }[]> = vectorJson(
      'unicode/case-maps-to-ascii.json',
    );
    const letters = [...maps.toUpperCase, ...maps.toLowerCase].map(({ cp, to }) => ({
      letter: String.fromCodePoint(Number.parseInt(cp.slice(2), 16)),
      to: to.toUpperCase(),
    }));
    const spoiled = [...MINOR_UNIT_DIGITS.keys()].flatMap((code) =>
      letters
        .filter(({ to }) => code.includes(to))
        .map(({ letter, to }) => code.replace(to, letter)),
    );
    expect(spoiled.length).toBeGreaterThan(50);
    for (const code of spoiled) expect(normaliseCurrency(code)).toBeUndefined();
  });
});

describe('money', () => {
  it('is one amount however many of its decimals are written', () => {
    expect(['10', '10.0', '10.00'].map((amount) => minor(amount, 'USD'))).toEqual([
      '1000',
      '1000',
      '1000',
    ]);
    expect(minor('18.6', 'KWD')).toBe(minor('18.600', 'KWD'));
  });

  it.each([
    ['0.01', 'USD', '1'],
    ['0.5', 'USD', '50'],
    ['500', 'JPY', '500'],
    ['18.600', 'KWD', '18600'],
    ['1.250', 'IQD', '1250'],
    ['10.45', 'HUF', '1045'],
    ['10.45', 'COP', '1045'],
    ['10.45', 'IDR', '1045'],
    ['1.2345', 'CLF', '12345'],
    ['19.99', 'usd', '1999'],
    ['9999999999999.99', 'USD', '999999999999999'],
  ])('reads %s %s exactly', (amount, currency, expected) => {
    expect(minor(amount, currency)).toBe(expected);
  });

  it.each(NOT_AMOUNTS)('refuses %j US dollars', (amount) => {
    expect(minor(amount, 'USD')).toBe('/amount');
  });

  it.each([
    ['500.5', 'JPY'],
    ['500.0', 'JPY'],
    ['18.6001', 'KWD'],
    ['18.6000', 'KWD'],
  ])('refuses %s %s: more decimals than the currency has, zeros included', (amount, currency) => {
    expect(parseMoney(amount, currency)).toMatchObject({
      ok: false,
      pointer: '/amount',
      detail: expect.stringMatching(/decimals/),
    });
  });

  it(`refuses more than ${MAX_MINOR_DIGITS} digits of minor units, however many are sent`, () => {
    expect(minor('10000000000000.00', 'USD')).toBe('/amount');
    expect(minor('9'.repeat(200_000), 'USD')).toBe('/amount');
    expect(Number.isSafeInteger(Number('9'.repeat(MAX_MINOR_DIGITS)))).toBe(true);
  });

  it('is written in the precision of its currency', () => {
    expect(formatAmount('25000', 2)).toBe('250.00');
    expect(formatAmount('500', 0)).toBe('500');
    expect(formatAmount('18600', 3)).toBe('18.600');
    expect(formatAmount('1', 2)).toBe('0.01');
    expect(formatAmount('1', 4)).toBe('0.0001');
  });

  it('is read back as it was written', () => {
    const currency = fc.constantFrom(...MINOR_UNIT_DIGITS.keys());
    fc.assert(
      fc.property(currency, fc.bigInt(1n, 999_999_999_999_999n), (code, amount) => {
        const digits = MINOR_UNIT_DIGITS.get(code) ?? -1;
        const text = formatAmount(String(amount), digits);
        const read = money(text, code);
        expect(read).toEqual({ currency: code, minor: String(amount), digits });
        expect(formatAmount(read.minor, read.digits)).toBe(text);
        expect(minorOf(read)).toBe(amount);
      }),
    );
  });

  it('is compared as a number, within one currency', () => {
    expect(compareMoney(money('9.99', 'USD'), money('10.00', 'USD'))).toBe(-1);
    expect(compareMoney(money('1000', 'USD'), money('999.99', 'USD'))).toBe(1);
    expect(compareMoney(money('10', 'USD'), money('10.0', 'usd'))).toBe(0);
    expect(() => compareMoney(money('10', 'USD'), money('10', 'EUR'))).toThrow(RangeError);
  });
});

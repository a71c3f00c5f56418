import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalDecimal } from '../../src/domain/decimal-literal.ts';

describe('decimal literal', () => {
  it.each([
    ['-12.50e3', '-125e2'],
    ['12500', '125e2'],
    ['0.00125', '125e-5'],
    ['1E+2', '1e2'],
    ['-0.00e7', '0'],
    ['1', '1e0'],
  ])('writes %s as %s', (literal, expected) => {
    expect(canonicalDecimal(literal)).toBe(expected);
  });

  it('has one text for one value and two for two', () => {
    const decimal = fc.tuple(fc.bigInt(-999n, 999n), fc.integer({ min: -3, max: 3 }));
    fc.assert(
      fc.property(decimal, decimal, ([a, p], [b, q]) => {
        const isSame = a * 10n ** BigInt(p + 3) === b * 10n ** BigInt(q + 3);
        expect(canonicalDecimal(`${a}e${p}`) === canonicalDecimal(`${b}e${q}`)).toBe(isSame);
      }),
      {
        examples: [
          [
            [10n, 0],
            [1n, 1],
          ],
          [
            [-5n, 0],
            [5n, 0],
          ],
        ],
      },
    );
  });
});

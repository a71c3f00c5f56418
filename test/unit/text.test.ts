import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  MAX_IDENTIFIER_LENGTH,
  normaliseIdentifier,
  parseIdentifier,
} from '../../src/domain/text.ts';

describe('identifiers', () => {
  it('have one spelling for composed and decomposed letters, and no blanks around them', () => {
    expect(parseIdentifier(' Cafe\u0301-1\n')).toEqual({ ok: true, value: 'Caf\u00e9-1' });
  });

  it('keep case and inner blanks', () => {
    expect(parseIdentifier('Inv 1')).toEqual({ ok: true, value: 'Inv 1' });
  });

  it.each(['', ' ', '\u00a0\u2003'])('refuse %j as empty', (text) => {
    expect(parseIdentifier(text)).toEqual({ ok: false, detail: 'must not be empty' });
  });

  it.each([
    'a\u0000b',
    'a\nb',
    'a\u007fb',
    'a\u200bb',
    'inv-1\u200d',
    'a\u202eb',
    'a\u2028b',
    'a\ud800',
  ])('refuse %j: what nobody can see must not tell two apart', (text) => {
    expect(parseIdentifier(text).ok).toBe(false);
  });

  it(`refuse more than ${MAX_IDENTIFIER_LENGTH} characters`, () => {
    expect(parseIdentifier(` ${'a'.repeat(MAX_IDENTIFIER_LENGTH)} `).ok).toBe(true);
    expect(parseIdentifier('a'.repeat(MAX_IDENTIFIER_LENGTH + 1)).ok).toBe(false);
    // U+0958 is two characters in NFC.
    expect(parseIdentifier('\u0958'.repeat(MAX_IDENTIFIER_LENGTH)).ok).toBe(false);
  });

  it('refuse a quarter of a megabyte of combining marks at once', () => {
    const started = performance.now();
    expect(parseIdentifier(`a${'\u0316\u0301'.repeat(60_000)}`).ok).toBe(false);
    expect(performance.now() - started).toBeLessThan(1000);
  });

  it('are not changed by being normalised again', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({
        unit: fc.constantFrom('a', ' ', '\u0301', '\u00e9', '\u2000', '\ufeff', '\u0958'),
      }),
    );
    fc.assert(
      fc.property(text, (raw) => {
        const once = normaliseIdentifier(raw);
        expect(normaliseIdentifier(once)).toBe(once);
      }),
    );
  });
});

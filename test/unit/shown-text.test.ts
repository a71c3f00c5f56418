import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasMarks, shownText } from '../../src/domain/shown-text.ts';

const MARK = /⟨U\+([0-9A-F]{4,6})⟩/gu;
const readBack = (shown: string): string =>
  shown.replaceAll(MARK, (_, point: string) => String.fromCodePoint(Number.parseInt(point, 16)));

describe('text that misleads nobody', () => {
  it.each([
    'inv-2027/03 (second) <b>!~',
    'Rechnung für Müller & Söhne – „wie besprochen“',
    'Оплата за март',
    'Москва',
    'Πληρωμή για τον Μάρτιο',
    '請求書 No. 5',
    'Tシャツ',
    'قهوة وشاي',
    'תשלום',
    '결제 확인',
    'naïve café Ångström',
    'हिन्दी में',
  ])('is shown as it is: %s', (text) => {
    expect(shownText(text)).toBe(text);
    expect(hasMarks(text)).toBe(false);
  });
});

describe('what is not seen, or moves what is seen', () => {
  it.each([
    ['U+202E', 'pay \u202Emoc.live'],
    ['U+2066', 'a\u2066b'],
    ['U+200F', 'a\u200Fb'],
    ['U+061C', 'a\u061Cb'],
    ['U+200B', 'ac\u200Bme'],
    ['U+200D', 'ac\u200Dme'],
    ['U+00AD', 'ac\u00ADme'],
    ['U+FEFF', '\uFEFFacme'],
    ['U+2060', 'ac\u2060me'],
    ['U+3164', 'ac\u3164me'],
    ['U+115F', '\u115Facme'],
    ['U+2800', 'ac\u2800me'],
    ['U+034F', 'a\u034Fcme'],
    ['U+FE0F', 'a\uFE0Fb'],
    ['U+E0041', 'a\u{E0041}b'],
    ['U+00A0', 'a\u00A0b'],
    ['U+2003', 'a\u2003b'],
    ['U+2028', 'a\u2028b'],
    ['U+000A', 'Pay 5\nApproved by: Ada'],
    ['U+000D', 'a\rb'],
    ['U+0009', 'a\tb'],
    ['U+0000', 'a\u0000b'],
    ['U+001B', 'a\u001B[31mb'],
    ['U+0085', 'a\u0085b'],
    ['U+E000', 'a\uE000b'],
    ['U+0378', 'a\u0378b'],
    ['U+FFFE', 'a\uFFFEb'],
    ['U+D800', 'a\uD800b'],
  ])('is written out: %s', (point, text) => {
    expect(shownText(text)).toContain(`⟨${point}⟩`);
    expect(hasMarks(text)).toBe(true);
  });

  it('counts marks that are piled on a letter, and those that stand on none', () => {
    expect(shownText('a\u0301')).toBe('a\u0301');
    expect(shownText('a\u0301\u0302\u0303')).toBe('a\u0301\u0302⟨U+0303⟩');
    expect(shownText('\u0301a')).toBe('⟨U+0301⟩a');
  });
});

describe('what reads as something else', () => {
  it.each([
    ['a Cyrillic letter in a Latin word', 'p\u0430ypal', 'p⟨U+0430⟩ypal'],
    ['a Greek one', 'G\u03BFogle', 'G⟨U+03BF⟩ogle'],
    ['in one word of many', 'to acm\u0435 now', 'to acm⟨U+0435⟩ now'],
    ['a whole word of look-alikes', '\u0440\u0430\u0443', '⟨U+0440⟩⟨U+0430⟩⟨U+0443⟩'],
    ['a name whose part is Cyrillic', 'acme-\u0441\u043E', 'acme-⟨U+0441⟩⟨U+043E⟩'],
    ['letters in full width', '\uFF41cme', '⟨U+FF41⟩cme'],
    ['mathematical letters', '\u{1D41A}cme', '⟨U+1D41A⟩cme'],
    ['a phonetic letter', '\u0261oogle', '⟨U+0261⟩oogle'],
    ['a dotless i', 'b\u0131nance', 'b⟨U+0131⟩nance'],
    ['Cherokee capitals', '\u13AA\u13F4\u13AA', '⟨U+13AA⟩⟨U+13F4⟩⟨U+13AA⟩'],
    ['digits of another script', '5\u0660\u0660', '5⟨U+0660⟩⟨U+0660⟩'],
    ['a fraction slash', 'a\u2044b', 'a⟨U+2044⟩b'],
    ['a minus that is no hyphen', '\u22125.00', '⟨U+2212⟩5.00'],
    ['a one-dot leader', '5\u202400', '5⟨U+2024⟩00'],
    ['marks that somebody else writes', '⟨U+0041⟩', '⟨U+27E8⟩U+0041⟨U+27E9⟩'],
  ])('is written out: %s', (_, text, shown) => {
    expect(shownText(text)).toBe(shown);
  });
});

describe('whatever the text', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'grapheme' }),
    fc.string({
      unit: fc.constantFrom('a', 'а', 'о', 'o', ' ', '-', '\u202E', '⟨', '\u0301', '1'),
    }),
  );

  it('can be read back from what is shown', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(readBack(shownText(text))).toBe(text);
      }),
    );
  });

  it('leaves nothing unseen in what is shown', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(shownText(text)).not.toMatch(
          /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u,
        );
      }),
    );
  });

  it('is shown as it is where it is printable ASCII', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => {
        expect(shownText(text)).toBe(text);
      }),
    );
  });

  it('never shows two texts alike', () => {
    fc.assert(
      fc.property(texts, texts, (one, other) => {
        expect(shownText(one) === shownText(other)).toBe(one === other);
      }),
    );
  });
});

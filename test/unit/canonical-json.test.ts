import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/domain/canonical-json.ts';
import { parseStrictJson, type JsonValue } from '../../src/domain/strict-json.ts';
import { vectorJson, vectorText } from '../support/vectors.ts';

const PAIRS = ['arrays', 'french', 'structures', 'unicode', 'values', 'weird'];
const read = (text: string): JsonValue => JSON.parse(text);

function fromHex(hex: string): number {
  return Buffer.from(hex.padStart(16, '0'), 'hex').readDoubleBE();
}

/** A text without lone surrogates, which have no canonical form. */
const text = fc.string({ unit: 'grapheme' });
const jsonValue = fc.letrec<{ any: JsonValue }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    text,
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(text, tie('any'), { maxKeys: 4 }),
  ),
})).any;

/** The same value with the members of every object the other way round. */
function reversed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, member]) => [name, reversed(member)] as const)
      .toReversed(),
  );
}

describe('canonical JSON and the vectors of RFC 8785', () => {
  it.each(PAIRS)('writes %s byte for byte', (name) => {
    const canonical = canonicalJson(read(vectorText(`rfc8785/input/${name}.json`)));
    const hex = vectorText(`rfc8785/outhex/${name}.txt`).replaceAll(/\s/g, '');
    expect(canonical).toBe(vectorText(`rfc8785/output/${name}.json`).trimEnd());
    expect(Buffer.from(canonical, 'utf8').toString('hex')).toBe(hex);
  });

  it('writes the first 1,000 numbers of the published sequence', () => {
    const lines = vectorText('rfc8785/es6-numbers-1000.txt').trim().split('\n');
    expect(lines).toHaveLength(1000);
    for (const line of lines) {
      const [hex = '', expected] = line.split(',');
      expect(canonicalJson(fromHex(hex))).toBe(expected);
    }
  });

  it('writes the numbers of appendix B and throws for those without a form', () => {
    const numbers: Record<'valid' | 'must_error', { ieee: string; json: string }[]> = vectorJson(
      'rfc8785/appendix-b-numbers.json',
    );
    for (const { ieee, json } of numbers.valid) expect(canonicalJson(fromHex(ieee))).toBe(json);
    for (const { ieee } of numbers.must_error) {
      expect(() => canonicalJson(fromHex(ieee))).toThrow(TypeError);
    }
  });

  interface Pair {
    readonly a: string;
    readonly b: string;
    readonly equal: boolean;
    readonly why: string;
    readonly canonical_b64?: string;
  }
  const { pairs }: { pairs: Pair[] } = vectorJson('rfc8785/equivalence-pairs.json');
  it.each(pairs.map((pair) => [pair.why, pair] as const))(
    'keeps equal and unequal apart: %s',
    (_, pair) => {
      const [a, b] = [canonicalJson(read(pair.a)), canonicalJson(read(pair.b))];
      expect(a === b).toBe(pair.equal);
      if (pair.canonical_b64 !== undefined) {
        expect(Buffer.from(a, 'utf8').toString('base64')).toBe(pair.canonical_b64);
      }
    },
  );
});

describe('canonical JSON', () => {
  it.each([
    ['a lone high surrogate', '\ud800'],
    ['a lone low surrogate in a name', { '\udead': 1 }],
    ['a reversed pair', ['\ude02\ud83d']],
    ['NaN', Number.NaN],
    ['Infinity', [Number.POSITIVE_INFINITY]],
    ['undefined', undefined],
    ['a whole number beyond JSON', 1n],
    ['a function', () => 1],
  ])('throws a TypeError for %s', (_, value) => {
    expect(() => Reflect.apply(canonicalJson, undefined, [value])).toThrow(TypeError);
  });

  it('writes a member named __proto__ like any other', () => {
    expect(canonicalJson(read('{"b":1,"__proto__":{"x":1}}'))).toBe('{"__proto__":{"x":1},"b":1}');
  });

  it('does not depend on the order of members', () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
      }),
    );
  });

  it('does not depend on the white space of the text', () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const spread = parseStrictJson(Buffer.from(JSON.stringify(value, undefined, '\t')));
        expect(spread.ok && canonicalJson(spread.value)).toBe(canonicalJson(value));
      }),
    );
  });

  it('is read back by the strict parser as the value it was written from', () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        expect(parseStrictJson(Buffer.from(canonicalJson(value)))).toEqual({ ok: true, value });
      }),
    );
  });
});

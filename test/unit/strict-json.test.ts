import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/domain/canonical-json.ts';
import { MAX_JSON_DEPTH, parseStrictJson } from '../../src/domain/strict-json.ts';
import { vectorJson, vectorText } from '../support/vectors.ts';

const parse = (text: string) => parseStrictJson(new TextEncoder().encode(text));
const refusal = (text: string) => {
  const result = parse(text);
  return result.ok ? undefined : result;
};
const value = (text: string) => {
  const result = parse(text);
  if (!result.ok) throw new Error(`refused: ${result.detail}`);
  return result.value ?? 'null';
};

const nested = (depth: number) => '[{"a":'.repeat(depth / 2) + '1' + '}]'.repeat(depth / 2);
const fill = (piece: string) => piece.repeat(Math.floor(262_000 / piece.length));

interface SuiteFile {
  readonly name: string;
  readonly expect: 'accept' | 'reject' | 'either' | 'transform';
  readonly base64: string;
}

const suite = vectorText('json-parsing/jsontestsuite.jsonl')
  .trim()
  .split('\n')
  .map((line): SuiteFile => JSON.parse(line));
const suiteBytes = (file: SuiteFile) => Buffer.from(file.base64, 'base64');

const named = (expected: SuiteFile['expect']) => suite.filter((file) => file.expect === expected);

/** What RFC 8259 accepts and we don't, by the rule of ours that refuses it. */
const REFUSED_BY_OUR_RULES: Readonly<Record<string, RegExp>> = {
  'y_array_heterogeneous.json': /null/,
  'y_array_null.json': /null/,
  'y_array_with_several_null.json': /null/,
  'y_structure_lonely_null.json': /null/,
  'y_object_duplicated_key.json': /occurs twice/,
  'y_object_duplicated_key_and_value.json': /occurs twice/,
  'y_object_escaped_null_in_key.json': /U\+0000/,
  'y_string_null_escape.json': /U\+0000/,
};

describe('strict JSON and the JSON test suite', () => {
  it.each(named('reject').map((file) => [file.name, file] as const))('refuses %s', (_, file) => {
    expect(parseStrictJson(suiteBytes(file)).ok).toBe(false);
  });

  it.each(
    named('accept')
      .filter((file) => !(file.name in REFUSED_BY_OUR_RULES))
      .map((file) => [file.name, file] as const),
  )('accepts %s as the engine reads it', (_, file) => {
    expect(parseStrictJson(suiteBytes(file))).toEqual({
      ok: true,
      value: JSON.parse(suiteBytes(file).toString('utf8')),
    });
  });

  it.each(Object.entries(REFUSED_BY_OUR_RULES))('refuses %s by a rule of ours', (name, rule) => {
    const file = suite.find((one) => one.name === name && one.expect === 'accept');
    expect(parseStrictJson(suiteBytes(file!))).toEqual({
      ok: false,
      detail: expect.stringMatching(rule),
      pointer: expect.any(String),
    });
  });

  it.each([...named('either'), ...named('transform')].map((file) => [file.name, file] as const))(
    'refuses %s or keeps its value',
    (_, file) => {
      const result = parseStrictJson(suiteBytes(file));
      if (result.ok) expect(parse(canonicalJson(result.value))).toEqual(result);
    },
  );
});

describe('strict JSON', () => {
  const negative: { vectors: { name: string; body: string }[] } =
    vectorJson('rfc8785/negative.json');
  it.each(negative.vectors.map(({ name, body }) => [name, body] as const))(
    'refuses %s',
    (_, body) => {
      expect(parse(body).ok).toBe(false);
    },
  );

  it('refuses a duplicate name written with an escape, and points to it', () => {
    expect(refusal('{"a":{"amount":"1.00","\\u0061mount":"100.00"}}')?.pointer).toBe('/a/amount');
    expect(refusal('{"a":{"\\u0061mount":"1.00","amount":"100.00"}}')?.pointer).toBe('/a/amount');
  });

  it('lets the same name stand in two objects', () => {
    expect(value('[{"a":1},{"a":2,"b":{"a":3}}]')).toEqual([{ a: 1 }, { a: 2, b: { a: 3 } }]);
  });

  it('takes a text that equals a name, and the names after it, for what they are', () => {
    expect(value('{"a":"b","b":"a","c":["a","a"]}')).toEqual({ a: 'b', b: 'a', c: ['a', 'a'] });
  });

  it('tells composed and decomposed names apart', () => {
    expect(parse('{"\u00e9":1,"e\u0301":2}').ok).toBe(true);
  });

  it.each(['__proto__', 'constructor', 'toString'])(
    'keeps %s as a member of the object itself',
    (name) => {
      expect(Object.entries(value(`{"${name}":{"x":1}}`))).toEqual([[name, { x: 1 }]]);
      expect(refusal(`{"${name}":1,"${name}":2}`)?.pointer).toBe(`/${name}`);
    },
  );

  it('refuses null wherever it stands, with its pointer', () => {
    expect(refusal('null')?.pointer).toBe('');
    expect(refusal('{"a":[1,{"b/c~d":null}]}')?.pointer).toBe('/a/1/b~1c~0d');
    expect(value('{"a":"null"}')).toEqual({ a: 'null' });
  });

  it.each(['{"\\udc00":1}', '{"a":"\\ud83d"}', '["\\ud83d\\u0041"]', '"\\ude02\\ud83d"'])(
    'refuses half a surrogate pair in %s',
    (text) => {
      expect(refusal(text)?.detail).toMatch(/surrogate/);
    },
  );

  it('reads an escaped pair as the character it spells', () => {
    expect(value('"\\ud83d\\ude02"')).toBe('😂');
  });

  it.each(['"a\\u0000b"', '{"\\u0000":1}', '"a\0b"'])('refuses U+0000 in %j', (text) => {
    expect(parse(text).ok).toBe(false);
  });

  it('finds the end of a text after any number of backslashes', () => {
    expect(value('["\\\\","\\"","\\\\\\"",{"a":"\\\\"}]')).toEqual(['\\', '"', '\\"', { a: '\\' }]);
  });

  it('refuses invalid UTF-8, encoded surrogates and overlong forms among it', () => {
    const bodies = [
      [0x22, 0xff, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
      [0x22, 0xc0, 0xaf, 0x22],
    ];
    for (const bytes of bodies) {
      expect(parseStrictJson(Uint8Array.from(bytes))).toEqual({
        ok: false,
        detail: 'The body is not valid UTF-8.',
      });
    }
  });

  it('refuses a byte order mark and an empty body by name', () => {
    expect(refusal('\ufeff{}')?.detail).toMatch(/byte order mark/);
    expect(refusal('')?.detail).toMatch(/empty/);
  });

  it('quotes nothing of a body that is not JSON', () => {
    expect(refusal('{"card":4242424242424242x}')?.detail).not.toContain('4242');
  });
});

describe('strict JSON numbers', () => {
  it.each([
    ['1.0', 1],
    ['10.00', 10],
    ['1e2', 100],
    ['20e-1', 2],
    ['-0', -0],
    ['0.000e-999999999', 0],
    ['0e99999999999999999999', 0],
    ['-12.50E+3', -12500],
    ['9007199254740991', 9007199254740991],
    ['9007199254740994', 9007199254740994],
    ['1e21', 1e21],
    ['100000000000000000000000', 1e23],
    ['5e-324', 5e-324],
    ['1.7976931348623157e308', 1.7976931348623157e308],
  ])('accepts %s, whose value stays', (text, number) => {
    expect(value(text)).toBe(number);
  });

  it.each([
    '9007199254740993',
    '-9007199254740993',
    '1e400',
    '-1e400',
    '1e-999',
    '3e-324',
    '0.1000000000000000055511151231257827',
    '1.000000000000000005',
    '333333333.33333329',
    `1${'0'.repeat(100)}1`,
  ])('refuses %s, whose value changes', (text) => {
    expect(refusal(`{"n":${text}}`)).toMatchObject({ pointer: '/n' });
  });

  it('accepts every double as RFC 8785 writes it', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        expect(value(canonicalJson(number))).toBe(Object.is(number, -0) ? 0 : number);
      }),
    );
  });

  it('accepts a decimal of up to 15 digits in any spelling', () => {
    const spelling = fc.record({
      digits: fc.integer({ min: 1, max: 999_999_999_999_999 }),
      zeros: fc.nat({ max: 5 }),
      power: fc.integer({ min: -50, max: 50 }),
    });
    fc.assert(
      fc.property(spelling, ({ digits, zeros, power }) => {
        const plain = value(`${digits}e${power}`);
        expect(value(`${digits}${'0'.repeat(zeros)}E${power - zeros}`)).toBe(plain);
        expect(value(`${digits}.${'0'.repeat(zeros + 1)}e${power}`)).toBe(plain);
      }),
    );
  });
});

describe('strict JSON limits', () => {
  it(`accepts ${MAX_JSON_DEPTH} levels and refuses one more`, () => {
    expect(parse(nested(MAX_JSON_DEPTH)).ok).toBe(true);
    expect(refusal(`[${nested(MAX_JSON_DEPTH)}]`)?.detail).toMatch(/deeper than 64/);
  });

  it('answers within seconds for the worst bodies of 256 KiB', () => {
    const bodies = [
      `[${fill('[],')}1]`,
      fill('['),
      `${'['.repeat(131_000)}${']'.repeat(131_000)}`,
      `[1${fill('0')}1]`,
      `["${fill('\\"')}"]`,
      `["${fill('\\\\')}"]`,
      `{"${'x'.repeat(131_000)}":[${'"",'.repeat(40_000)}1]}`,
      `[${fill('0.10,')}1]`,
    ];
    const started = performance.now();
    for (const body of bodies) parse(body);
    expect(performance.now() - started).toBeLessThan(3000);
  });
});

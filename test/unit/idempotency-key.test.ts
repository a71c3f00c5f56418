import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  idempotencyKeyFault,
  MAX_KEY_LENGTH,
  MAX_WORKFLOW_ID_LENGTH,
  parseIdempotencyKey,
  parseIdempotencyMode,
  parseWorkflowId,
  reconcileWorkflowIdFor,
  workflowIdFor,
} from '../../src/domain/idempotency-key.ts';
import { sha256Hex } from '../../src/domain/sha256.ts';
import { vectorJson } from '../support/vectors.ts';

const keyOf = (...lines: string[]) => {
  const result = parseIdempotencyKey(lines);
  return result.ok ? result.key : result.code;
};
const quote = (key: string) => `"${key.replaceAll(/["\\]/g, '\\$&')}"`;

/** Header values that the vectors leave open, and what the public contract decides. */
const DECIDED: Readonly<Record<string, string>> = {
  '8e03978e-40d5-43e8-bc93-6894a57f9324': '8e03978e-40d5-43e8-bc93-6894a57f9324',
  abc: 'abc',
  '"abc";v=1': 'idempotency_key_invalid',
  '123': '123',
};

interface HeaderValue {
  readonly raw?: string[];
  readonly raw_utf8?: string[];
  readonly sf_string?: string;
  readonly ok: boolean | string;
}

/** As Node hands over a header: its bytes as Latin-1. */
const asReceived = ({ raw, raw_utf8 }: HeaderValue) =>
  raw ?? (raw_utf8 ?? []).map((line) => Buffer.from(line, 'utf8').toString('latin1'));

describe('Idempotency-Key and its vectors', () => {
  const { header_values }: { header_values: HeaderValue[] } = vectorJson(
    'idempotency-key/header-values.json',
  );
  it.each(header_values.map((one) => [JSON.stringify(asReceived(one)), one] as const))(
    'reads %s as the contract decides',
    (_, one) => {
      const lines = asReceived(one);
      const expected =
        typeof one.ok === 'string'
          ? DECIDED[lines.join()]
          : one.ok
            ? one.sf_string
            : 'idempotency_key_invalid';
      expect(expected).toBeDefined();
      expect(keyOf(...lines)).toBe(expected);
    },
  );

  interface FieldVector {
    readonly name: string;
    readonly raw: string[];
    readonly header_type: string;
    readonly must_fail?: boolean;
    readonly expected?: [unknown, unknown[]];
  }
  const fields = ['string', 'string-generated', 'item', 'token', 'binary']
    .flatMap((file): FieldVector[] => vectorJson(`structured-fields/${file}.json`))
    .filter((one) => one.header_type === 'item');

  it('has the published structured-field items to go by', () => {
    expect(fields.length).toBe(293);
  });

  it.each(
    fields.map((one) => [`${one.name} ${JSON.stringify(one.raw).slice(0, 60)}`, one] as const),
  )('agrees with the structured-field vector %s', (_, { raw, must_fail, expected }) => {
    const result = parseIdempotencyKey(raw);
    const quoted = raw.join().trim().startsWith('"');
    if (must_fail === true) expect(result.ok).toBe(false);
    else if (quoted && typeof expected?.[0] === 'string' && raw.length === 1) {
      const isKey = idempotencyKeyFault(expected[0]) === undefined;
      expect(result).toMatchObject(isKey ? { ok: true, key: expected[0] } : { ok: false });
    } else if (result.ok) expect(raw.map((line) => line.trim())).toEqual([result.key]);
  });
});

describe('Idempotency-Key', () => {
  it('calls an absent header missing and an empty one invalid', () => {
    expect(keyOf()).toBe('idempotency_key_missing');
    expect(keyOf('')).toBe('idempotency_key_invalid');
    expect(keyOf(' \t ')).toBe('idempotency_key_invalid');
  });

  it('refuses a repeated header, also when both lines are equal', () => {
    expect(keyOf('"a"', '"b"')).toBe('idempotency_key_invalid');
    expect(keyOf('a', 'a')).toBe('idempotency_key_invalid');
  });

  it('names the same key by the quoted and the bare form', () => {
    const bare = fc.stringMatching(/^[A-Za-z0-9][!#-&(-+\--:<-[\]-~]{0,254}$/);
    fc.assert(
      fc.property(bare, (key) => {
        expect(keyOf(key)).toBe(key);
        expect(keyOf(quote(key))).toBe(key);
      }),
    );
  });

  it('reads every printable key of the permitted length back from its quoted form', () => {
    const key = fc.stringMatching(/^[!-~]([ -~]{0,253}[!-~])?$/);
    fc.assert(
      fc.property(key, (text) => {
        expect(keyOf(quote(text))).toBe(text);
      }),
    );
  });

  it('is case-sensitive', () => {
    expect(keyOf('"Key-ABC"')).toBe('Key-ABC');
  });

  it.each([
    'k'.repeat(MAX_KEY_LENGTH),
    quote('k'.repeat(MAX_KEY_LENGTH)),
    `"${'\\"'.repeat(255)}"`,
  ])(`accepts ${MAX_KEY_LENGTH} characters, counted after unescaping`, (value) => {
    expect(keyOf(value)).toHaveLength(MAX_KEY_LENGTH);
  });

  it.each(['k'.repeat(256), quote('k'.repeat(256)), 'k'.repeat(4000)])(
    'refuses more characters',
    (value) => {
      expect(keyOf(value)).toBe('idempotency_key_invalid');
    },
  );

  it.each(['" a"', '"a "', '"a\tb"', '"a\u007fb"', '"a\u00e9"', '"a\u0000"'])(
    'refuses %j: a blank at an end, or what is not printable ASCII',
    (value) => {
      expect(keyOf(value)).toBe('idempotency_key_invalid');
    },
  );

  it('keeps a blank inside a quoted key', () => {
    expect(keyOf('"a b"')).toBe('a b');
  });

  it.each([
    '-a',
    '*a',
    '?1',
    ':YWJj:',
    '@123',
    '(a b)',
    'a b',
    'a,b',
    'a;b',
    'a"b',
    "a'b",
    'a\\b',
    'é',
    '%"a"',
  ])('refuses %s as a bare key', (value) => {
    expect(keyOf(value)).toBe('idempotency_key_invalid');
  });
});

describe('Idempotency-Mode', () => {
  it('is any when absent, and otherwise one of three words exactly', () => {
    expect(parseIdempotencyMode(undefined)).toBe('any');
    expect(['first', 'retry', 'any'].map(parseIdempotencyMode)).toEqual(['first', 'retry', 'any']);
    for (const bad of ['', 'Retry', 'first, retry', 'none']) {
      expect(parseIdempotencyMode(bad)).toBeUndefined();
    }
  });
});

const account = fc.stringMatching(/^[a-z0-9_]{1,64}$/);
const key = fc.oneof(
  fc.stringMatching(/^[!-~]([ -~]{0,253}[!-~])?$/),
  fc.constantFrom('sha256', 'a/b', ':sha256:', `sha256:${'0'.repeat(64)}`, 'reconcile:x'),
);

describe('workflow ids', () => {
  it('are the account and the key in the clear, up to 200 characters', () => {
    expect(workflowIdFor('acct_a', 'k-1')).toBe('acct_a/k-1');
    const longest = 'k'.repeat(MAX_WORKFLOW_ID_LENGTH - 'acct_a/'.length);
    expect(workflowIdFor('acct_a', longest)).toBe(`acct_a/${longest}`);
  });

  it('carry the digest of a longer key', () => {
    const long = 'k'.repeat(MAX_WORKFLOW_ID_LENGTH - 'acct_a/'.length + 1);
    expect(workflowIdFor('acct_a', long)).toBe(`acct_a:sha256:${sha256Hex(long)}`);
  });

  it('are never longer than 200 characters', () => {
    fc.assert(
      fc.property(account, key, (accountId, text) => {
        expect(workflowIdFor(accountId, text).length).toBeLessThanOrEqual(MAX_WORKFLOW_ID_LENGTH);
      }),
    );
  });

  it('differ for different accounts or keys', () => {
    fc.assert(
      fc.property(account, key, account, key, (a, j, b, k) => {
        expect(workflowIdFor(a, j) === workflowIdFor(b, k)).toBe(a === b && j === k);
      }),
    );
  });

  it('are taken apart again into account and key, or account and digest', () => {
    fc.assert(
      fc.property(account, key, (accountId, text) => {
        const id = workflowIdFor(accountId, text);
        const isClear = accountId.length + 1 + text.length <= MAX_WORKFLOW_ID_LENGTH;
        expect(parseWorkflowId(id)).toEqual(
          isClear ? { accountId, key: text } : { accountId, keyDigest: sha256Hex(text) },
        );
      }),
    );
  });

  it.each([
    '',
    'acct_a',
    'acct_a/',
    'Acct/k',
    `acct_a/${'k'.repeat(200)}`,
    'acct_a/k\n',
    'acct_a:sha256:00',
    reconcileWorkflowIdFor('acct_a', 'op_1'),
  ])('are not seen in %j', (id) => {
    expect(parseWorkflowId(id)).toBeUndefined();
  });

  it('of a reconciliation are never those of a key', () => {
    fc.assert(
      fc.property(account, key, account, (a, k, b) => {
        expect(workflowIdFor(a, k)).not.toBe(reconcileWorkflowIdFor(b, '0190-op'));
      }),
    );
  });

  it('are refused for a text that is no account, because that could end anywhere', () => {
    expect(() => workflowIdFor('a/b', 'c')).toThrow(RangeError);
    expect(() => workflowIdFor('', 'c')).toThrow(RangeError);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { verifyLog } from '../../src/audit/verify-log.ts';
import {
  batchHash,
  chainStart,
  checkpointText,
  entryText,
  type AuditHead,
} from '../../src/domain/audit-chain.ts';
import { sha256Hex } from '../../src/domain/sha256.ts';
import {
  chainOf,
  headOf,
  makeKeys,
  recordOf,
  written,
  type TestKeys,
} from '../support/audit-log.ts';

/** SHA-256 of the two lines `holdfast-audit-v1` and `acct_a`, without a newline at the end. */
const START = 'bcb0f28b6f9ecb75aa889d073f503592267c643ccd692b8957cfd65a15e1fb54';

let keys: TestKeys;
beforeAll(() => {
  keys = makeKeys();
});
afterAll(() => keys.remove());

const hashesOf = (lines: readonly string[]): string[] =>
  lines.map((line) => JSON.parse(line).hash as string);

const records = (count: number) => Array.from({ length: count }, (_, n) => recordOf(n + 1));

const verify = (lines: readonly string[], heads: readonly AuditHead[]) =>
  verifyLog(written(keys.folder, 'log.jsonl', lines), heads, keys.verifier);

describe('an entry', () => {
  it('is hashed as docs/audit.md says: these bytes, this hash', () => {
    const entry = entryText(
      'acct_a',
      { sequence: 1, after: chainStart('acct_a') },
      recordOf(1, { agentRun: 'é', detail: { b: 1, a: [true] } }),
    );
    expect(entry).toBe(
      `{"account_id":"acct_a","after":"${START}",` +
        '"agent_run":"é","at":"2026-01-02T03:04:05.678Z","detail":{"a":[true],"b":1},' +
        `"fingerprint":"${sha256Hex('1')}","key":"key-1","operation_id":"op_1","principal":"acct_a.agent",` +
        '"route":"/agent/operations/payment","sequence":1,"to":"IN_PROGRESS","type":"claimed","v":1}',
    );
    expect(chainStart('acct_a')).toBe(START);
    expect(batchHash(['a'.repeat(64), 'b'.repeat(64)])).toBe(
      sha256Hex(`${'a'.repeat(64)}${'b'.repeat(64)}`),
    );
  });

  it('that is parsed and written again in its order is the same line', () => {
    const { lines } = chainOf(keys.key, records(9));
    for (const line of lines) expect(JSON.stringify(JSON.parse(line))).toBe(line);
  });
});

describe('a log that nobody touched', () => {
  it('is whole, with a head in the middle and one at the end', async () => {
    const { lines, heads } = chainOf(keys.key, records(7), [3]);
    expect(await verify(lines, heads)).toEqual({
      ok: true,
      first_bad: null,
      reason: null,
      entries: 7,
      unsigned: 0,
      signatures: 'valid',
    });
  });

  it('may be longer than its head, and says by how much', async () => {
    const { lines, heads } = chainOf(keys.key, records(7), [3]);
    expect(await verify(lines, heads.slice(0, 1))).toMatchObject({ ok: true, unsigned: 4 });
  });

  it('is whole across the borders of what is read at once', async () => {
    const { lines, heads } = chainOf(keys.key, records(6_000));
    expect(lines.join('\n').length).toBeGreaterThan(2 ** 21);
    expect(await verify(lines, heads)).toMatchObject({ ok: true, entries: 6_000 });
  });

  it('begins behind a signed checkpoint where its oldest entries were removed', async () => {
    const { lines, heads } = chainOf(keys.key, records(6), [2]);
    const [second] = heads;
    const unsigned = {
      v: 1,
      account_id: 'acct_a',
      through_sequence: 2,
      hash: second?.hash ?? '',
      removed_at: '2026-02-01T00:00:00.000Z',
      kid: keys.key.kid,
    } as const;
    const checkpoint = { ...unsigned, signature: keys.key.sign(checkpointText(unsigned)) };
    const rest = lines.slice(2);
    expect(await verify([JSON.stringify(checkpoint), ...rest], heads)).toMatchObject({
      ok: true,
      entries: 4,
    });
    expect(await verify(rest, heads)).toMatchObject({ ok: false, first_bad: 1 });
    const forged = { ...checkpoint, through_sequence: 3 };
    expect(await verify([JSON.stringify(forged), ...lines.slice(3)], heads)).toMatchObject({
      ok: false,
      signatures: 'invalid',
    });
  });
});

describe('a log that somebody touched', () => {
  const edited = (line = '') => line.replace('"type":"', '"type":"x');

  it.each<[string, number, (lines: string[]) => void]>([
    ['an edit', 5, (lines) => lines.splice(4, 1, edited(lines[4]))],
    [
      'an edit of the hash alone',
      5,
      (lines) =>
        lines.splice(4, 1, (lines[4] ?? '').replace(/[0-9a-f]{64}"\}$/, `${'0'.repeat(64)}"}`)),
    ],
    ['a dropped entry', 7, (lines) => lines.splice(6, 1)],
    ['the first one dropped', 1, (lines) => lines.splice(0, 1)],
    ['two that were swapped', 2, (lines) => lines.splice(1, 2, lines[2] ?? '', lines[1] ?? '')],
    ['one that was put in', 4, (lines) => lines.splice(3, 0, edited(lines[3]))],
    ['one that stands there twice', 5, (lines) => lines.splice(3, 0, lines[3] ?? '')],
    ['a cut tail', 9, (lines) => lines.splice(8)],
    ['an empty log', 1, (lines) => lines.splice(0)],
    ['a line that is no entry', 3, (lines) => lines.splice(2, 0, '{"sequence":3}')],
  ])('is not whole, and the first bad entry is named: %s', async (_, place, spoil) => {
    const { lines, heads } = chainOf(keys.key, records(10));
    const copy = [...lines];
    spoil(copy);
    expect(await verify(copy, heads)).toMatchObject({ ok: false, first_bad: place });
  });

  it('is not whole where its history was written anew with hashes that fit', async () => {
    const { heads } = chainOf(keys.key, records(10), [4, 7]);
    const other = records(10);
    other[4] = recordOf(5, { principal: 'somebody' });
    const { lines } = chainOf(keys.key, other);
    // Each head that is known narrows down where it begins.
    expect(await verify(lines, heads.slice(-1))).toMatchObject({ ok: false, first_bad: 10 });
    expect(await verify(lines, heads)).toMatchObject({ ok: false, first_bad: 7 });
  });

  it('is not whole where a head speaks of another batch than there is', async () => {
    const { lines, heads } = chainOf(keys.key, records(6), [3]);
    const [one, , ...rest] = hashesOf(lines.slice(3));
    const other = headOf(keys.key, 'acct_a', 6, [one ?? '', '0'.repeat(64), ...rest]);
    expect(await verify(lines, [other])).toMatchObject({ ok: false, first_bad: 6 });
    const longer = headOf(keys.key, 'acct_a', 6, hashesOf(lines.slice(1)));
    expect(await verify(lines, [...heads.slice(0, 1), longer])).toMatchObject({ first_bad: 3 });
  });

  it('is not whole with the chain of another account', async () => {
    const { heads } = chainOf(keys.key, records(3));
    const { lines } = chainOf(keys.key, records(3), [], 'acct_b');
    expect(await verify(lines, heads)).toMatchObject({ ok: false, first_bad: 1 });
  });

  it('is not whole with a head that somebody else signed, or that was changed', async () => {
    const forger = makeKeys();
    const { lines, heads } = chainOf(keys.key, records(3));
    const [head] = heads;
    if (!head) throw new Error('no head');
    const foreign = headOf(forger.key, 'acct_a', head.sequence, hashesOf(lines));
    const borrowed = { ...foreign, kid: head.kid };
    for (const forged of [foreign, borrowed, { ...head, sealed_at: '2026-01-01T00:00:00.000Z' }]) {
      expect(await verify(lines, [forged])).toMatchObject({
        ok: false,
        first_bad: null,
        signatures: 'invalid',
      });
    }
    forger.remove();
  });

  it('never passes, whatever one byte was changed to', async () => {
    const { lines, heads } = chainOf(keys.key, records(5));
    const text = lines.map((line) => `${line}\n`).join('');
    await fc.assert(
      fc.asyncProperty(
        fc.nat(text.length - 2),
        fc.constantFrom('0', 'a', '"', '{', '}', '\\', ' '),
        async (at, to) => {
          fc.pre(text[at] !== to);
          const spoilt = text.slice(0, at) + to + text.slice(at + 1);
          const report = await verify(spoilt.split('\n').slice(0, -1), heads);
          expect([report.ok, spoilt]).toEqual([false, spoilt]);
        },
      ),
      { numRuns: 200 },
    );
  });
});

// Two verifiers that share no code say the same of the same files, good and spoilt.
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyLog } from '../../src/audit/verify-log.ts';
import type { AuditHead } from '../../src/domain/audit-chain.ts';
import {
  chainOf,
  headOf,
  makeKeys,
  recordOf,
  written,
  type TestKeys,
} from '../support/audit-log.ts';
import { python } from '../support/audit-verifiers.ts';

/** Each run starts Python anew. */
const PATIENCE_MS = 60_000;

let keys: TestKeys;
beforeAll(() => {
  keys = makeKeys();
});
afterAll(() => keys.remove());

const records = (count: number) => Array.from({ length: count }, (_, n) => recordOf(n + 1));
const hashesOf = (lines: readonly string[]): string[] =>
  lines.map((line) => JSON.parse(line).hash as string);

let count = 0;

/** What both say; fails where they differ. */
async function both(lines: readonly string[], heads: readonly AuditHead[]) {
  count += 1;
  const log = written(keys.folder, `log-${count}.jsonl`, lines);
  const head = written(
    keys.folder,
    `head-${count}.jsonl`,
    heads.map((one) => JSON.stringify(one)),
  );
  const ours = await verifyLog(log, heads, keys.verifier);
  const theirs = await python([log, '--head', head, '--public-keys', keys.publicKeys, '--json']);
  expect({ ...theirs, last: JSON.parse(theirs.last) }).toEqual({
    exit: ours.ok ? 0 : 1,
    last: ours,
    stderr: '',
  });
  return ours;
}

/** What may be done to a log, as data. */
const spoiling = fc.record({
  how: fc.constantFrom('edit', 'drop', 'swap', 'insert', 'repeat', 'cut', 'nothing'),
  at: fc.nat(11),
  other: fc.nat(11),
  byte: fc.nat(10_000),
});

type Spoiling = typeof spoiling extends fc.Arbitrary<infer T> ? T : never;

function spoil(lines: readonly string[], { how, at, other, byte }: Spoiling): string[] {
  const copy = [...lines];
  const line = copy[at] ?? '';
  const place = byte % line.length;
  const edited = `${line.slice(0, place)}${line[place] === '7' ? '8' : '7'}${line.slice(place + 1)}`;
  if (how === 'edit') copy[at] = edited;
  if (how === 'drop') copy.splice(at, 1);
  if (how === 'swap') [copy[at], copy[other]] = [copy[other] ?? '', line];
  if (how === 'insert') copy.splice(at, 0, edited);
  if (how === 'repeat') copy.splice(at, 0, copy[other] ?? '');
  if (how === 'cut') copy.splice(at);
  return copy;
}

describe('the second verifier', () => {
  it(
    'says the same as the first of a log that nobody touched',
    { timeout: PATIENCE_MS },
    async () => {
      const { lines, heads } = chainOf(keys.key, records(12), [4, 9]);
      expect(await both(lines, heads)).toMatchObject({ ok: true, entries: 12 });
      expect(await both(lines, heads.slice(0, 1))).toMatchObject({ ok: true, unsigned: 8 });
    },
  );

  it('says the same of forged and of changed heads', { timeout: PATIENCE_MS }, async () => {
    const forger = makeKeys();
    const { lines, heads } = chainOf(keys.key, records(3));
    const [head] = heads;
    if (!head) throw new Error('no head');
    const foreign = headOf(forger.key, 'acct_a', 3, hashesOf(lines));
    // The same 64 bytes, in spellings that only some decoders take.
    const respelled = [
      `${head.signature}==`,
      `${head.signature}\n`,
      Buffer.from(head.signature, 'base64url').toString('base64'),
      head.signature.slice(0, -1) + String.fromCharCode(head.signature.charCodeAt(85) + 1),
    ].map((signature) => ({ ...head, signature }));
    const changed = [foreign, { ...foreign, kid: head.kid }, { ...head, sequence: 2 }];
    for (const bad of [...changed, ...respelled]) {
      expect(await both(lines, [bad])).toMatchObject({ ok: false, signatures: 'invalid' });
    }
    forger.remove();
  });

  it(
    'says the same, and names the same entry, whatever was done to the log',
    { timeout: PATIENCE_MS },
    async () => {
      const { lines, heads } = chainOf(keys.key, records(12), [5]);
      const untouched = lines.join('\n');
      await fc.assert(
        fc.asyncProperty(spoiling, async (what) => {
          const spoilt = spoil(lines, what);
          const { ok } = await both(spoilt, heads);
          expect(ok).toBe(spoilt.join('\n') === untouched);
        }),
        { numRuns: 20 },
      );
    },
  );
});

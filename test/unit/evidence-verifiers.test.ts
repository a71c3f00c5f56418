// Whatever is changed in an evidence bundle, both verifiers notice, say the same of it, and say what it is.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseEvidence } from '../../src/audit/parse-evidence.ts';
import { verifyEvidence, type EvidenceKeys } from '../../src/audit/verify-evidence.ts';
import type { EvidenceBundle } from '../../src/domain/evidence-bundle.ts';
import { makeKeys, type TestKeys } from '../support/audit-log.ts';
import { python } from '../support/audit-verifiers.ts';
import {
  checkpointOf,
  goodBundle,
  pendingBundle,
  rejectedBundle,
  type EvidenceSigners,
} from '../support/evidence.ts';

/** Each run starts Python anew. */
const PATIENCE_MS = 60_000;

let audit: TestKeys;
let desk: TestKeys;
let stranger: TestKeys;
let signers: EvidenceSigners;
beforeAll(() => {
  [audit, desk, stranger] = [makeKeys(), makeKeys(), makeKeys()];
  signers = { audit: audit.key, desk: desk.key };
});
afterAll(() => [audit, desk, stranger].forEach((keys) => keys.remove()));

let count = 0;

/** What both say; fails where they differ. */
async function both(
  bundle: unknown,
  keys: EvidenceKeys = { heads: audit.verifier, desk: desk.verifier },
) {
  count += 1;
  const path = join(audit.folder, `bundle-${count}.json`);
  const text = JSON.stringify(bundle);
  writeFileSync(path, text);
  const read = parseEvidence(text);
  const ours = read && verifyEvidence(read, keys);
  const theirs = await python(
    [
      '--evidence',
      path,
      '--json',
      ...(keys.heads ? ['--public-keys', audit.publicKeys] : []),
      ...(keys.desk ? ['--desk-keys', desk.publicKeys] : []),
    ],
    { HOLDFAST_HOME: join(audit.folder, 'no-home') },
  );
  if (!ours) {
    expect(theirs).toMatchObject({
      exit: 2,
      stderr: expect.stringMatching(/is no evidence bundle/),
    });
    return undefined;
  }
  expect({ ...theirs, last: JSON.parse(theirs.last) }).toEqual({
    exit: ours.ok ? 0 : 1,
    last: ours,
    stderr: '',
  });
  return ours;
}

/** What the first of the two says, a second time. */
function here(bundle: unknown) {
  const read = parseEvidence(JSON.stringify(bundle));
  return read && verifyEvidence(read, { heads: audit.verifier, desk: desk.verifier });
}

type Path = readonly (string | number)[];

/** The bundle with another value in one place; undefined takes the member away. */
function changed(value: unknown, path: Path, change: (value: unknown) => unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return change(value);
  const copy: object = Array.isArray(value) ? [...value] : { ...(value as object) };
  const inner = changed(Reflect.get(copy, name), rest, change);
  if (inner === undefined) Reflect.deleteProperty(copy, name);
  else Reflect.set(copy, name, inner);
  return copy;
}

/** Every text, number, flag and null of a value, by its place. */
function leavesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([name, inner]) =>
    leavesOf(inner, [...path, Array.isArray(value) ? Number(name) : name]),
  );
}

/** Another value of the same sort. */
function another(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  if (typeof value !== 'string') return 'something';
  if (/^\d{4}-\d\d-\d\dT/.test(value))
    return value.replace(/.Z$/, value.endsWith('1Z') ? '2Z' : '1Z');
  const last = value.at(-1) === 'a' ? 'b' : 'a';
  return `${value.slice(0, -1)}${last}`;
}

/** What a bundle tells and does not prove: docs/audit.md says so as well. */
const TOLD_ONLY =
  `policy_decision operation.kind operation.kind_version operation.fingerprint_version operation.adapter
   operation.response_status operation.resolved_by operation.created_at operation.updated_at
   operation.settled_at`.split(/\s+/);

describe('a bundle in which nothing was changed', () => {
  it('is proven', { timeout: PATIENCE_MS }, async () => {
    const good = goodBundle(signers);
    const all = { ok: true, verdict: 'proven', reason: null, disagreements: [] };
    expect(await both(good)).toMatchObject({
      ...all,
      entries: 9,
      signatures: 'valid',
      decision_signatures: 'valid',
    });
    expect(await both(rejectedBundle(signers))).toMatchObject(all);
    expect(await both(pendingBundle(signers))).toMatchObject({
      ...all,
      decision_signatures: 'none',
    });
    const cut = { ...good, checkpoint: checkpointOf(audit.key, good) };
    expect(await both(cut)).toMatchObject(all);
  });
});

describe('a bundle of which one member was changed', () => {
  it('is refuted, or is no bundle, whichever it was', { timeout: PATIENCE_MS }, async () => {
    const good = goodBundle(signers);
    const bundle = { ...good, checkpoint: checkpointOf(audit.key, good) };
    const seen = new Set<string>();
    for (const path of leavesOf(bundle)) {
      const spoilt = changed(bundle, path, another);
      const name = path.filter((part) => typeof part === 'string').join('.');
      // Python is slow to start: it is shown one of each sort, and of what is signed as a whole only a few, below.
      const isShown = !seen.has(name) && !/plan|signed|proofs|checkpoint/.test(name);
      const report = isShown ? await both(spoilt) : here(spoilt);
      seen.add(name);
      const verdict = report?.verdict ?? 'refuted';
      expect([path.join('.'), verdict]).toEqual([path.join('.'), expected(name)]);
    }
  });

  const expected = (name: string): string => {
    if (name === 'unsealed') return 'unproven';
    return TOLD_ONLY.includes(name) ? 'proven' : 'refuted';
  };
});

type Spoiling = (bundle: EvidenceBundle) => unknown;
const set =
  (path: string, value: unknown): Spoiling =>
  (bundle) =>
    changed(
      bundle,
      path.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
      (before) => (typeof value === 'function' ? value(before) : value),
    );

const eachText = (change: (text: string) => string) => (before: unknown) => change(String(before));
/** The same bits in another spelling: of the last digit of 64 bytes only two bits count. */
const withUnusedBits = eachText((text) => {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return text.slice(0, -1) + digits[digits.indexOf(text.at(-1) ?? '') + 1];
});
const padded = eachText((text) => `${text}==`);
const flipped = eachText((text) => (text.startsWith('A') ? 'B' : 'A') + text.slice(1));

const HEAD = 'proofs.1.head.signature';
const DECISION = 'approvals.0.votes.0.signed.signature';
const ABOUT = 'of acct_a.anna about approval apr_1';

describe('both verifiers refuse, and name', () => {
  it.each<[string, Spoiling, RegExp]>([
    [
      'a state',
      set('operation.status', 'FAILED'),
      /the row is FAILED, and the last transition ended in SUCCEEDED/,
    ],
    [
      'a fingerprint',
      set('operation.fingerprint', 'cd'.repeat(32)),
      /the fingerprint of the row is not the one that was claimed/,
    ],
    [
      'a provider reference',
      set('operation.provider_reference', 'pay_2'),
      /the provider reference is not the one/,
    ],
    [
      'a provider reference that was taken away',
      set('operation.provider_reference', null),
      /the provider reference is not the one/,
    ],
    [
      'a digest of the response',
      set('operation.response_sha256', 'cd'.repeat(32)),
      /the stored bytes are not those/,
    ],
    [
      'approvals that were taken away',
      set('approvals', []),
      /approval apr_1 is in the audit, and missing beside it/,
    ],
    [
      'a decision that was taken away',
      set('approvals.0.votes', (votes: unknown[]) => votes.slice(1)),
      new RegExp(`the decision ${ABOUT} is missing`),
    ],
    [
      'another decision',
      set('approvals.0.votes.0.decision', 'rejected'),
      new RegExp(`the audit has no such decision ${ABOUT}`),
    ],
    [
      'another approver',
      set('approvals.0.votes.0.principal_id', 'acct_a.carl'),
      /no such decision of acct_a.carl about approval apr_1/,
    ],
    [
      'another owner',
      set('approvals.0.votes.0.owner', 'another team'),
      new RegExp(`the decision ${ABOUT} is not the one that was signed`),
    ],
    [
      'another plan',
      set('operation.plan.provider_deadline_ms', 1),
      new RegExp(`the decision ${ABOUT} was signed about something else`),
    ],
    [
      'a lower quorum',
      set('approvals.0.quorum', 1),
      new RegExp(`the decision ${ABOUT} was signed about something else`),
    ],
    [
      'an approval that is said to be rejected',
      set('approvals.0.status', 'rejected'),
      /approval apr_1 is rejected, and the audit says approved/,
    ],
    [
      'an approval without signatures',
      set('approvals.0.votes', []),
      /approval apr_1 is approved, and no valid decisions prove it/,
    ],
    [
      'a signed decision that is no object',
      set('approvals.0.votes.0.signed', 'yes'),
      new RegExp(`the decision ${ABOUT} is none that the desk signs`),
    ],
    ['a padded signature of a head', set(HEAD, padded), /the signature of head \d+ is not valid/],
    ['a flipped signature of a head', set(HEAD, flipped), /the signature of head \d+ is not valid/],
    [
      'unused bits in the signature of a head',
      set(HEAD, withUnusedBits),
      /the signature of head \d+ is not valid/,
    ],
    [
      'a padded signature of a decision',
      set(DECISION, padded),
      new RegExp(`the decision ${ABOUT} has no valid signature`),
    ],
    [
      'a flipped signature of a decision',
      set(DECISION, flipped),
      new RegExp(`the decision ${ABOUT} has no valid signature`),
    ],
    [
      'unused bits in the signature of a decision',
      set(DECISION, withUnusedBits),
      new RegExp(`the decision ${ABOUT} has no valid signature`),
    ],
    [
      'the content of an entry',
      set(
        'entries.3',
        eachText((line) => line.replace('"vote"', '"Vote"')),
      ),
      /an entry is not proven/,
    ],
    [
      'the hash that an entry names',
      set(
        'entries.3',
        eachText((line) => line.replace(/[0-9a-f]{64}"\}$/, `${'0'.repeat(64)}"}`)),
      ),
      /an entry is not proven/,
    ],
    [
      'an entry that was left out',
      set('entries', (lines: string[]) => lines.toSpliced(-1, 1)),
      /the row is SUCCEEDED, and the last transition ended in IN_PROGRESS/,
    ],
    [
      'the claim that was left out',
      set('entries', (lines: string[]) => lines.toSpliced(1, 1)),
      /the audit has no claim/,
    ],
    [
      'an entry that stands twice',
      set('entries', (lines: string[]) => [...lines, lines.at(-3)]),
      /an entry is not in its place/,
    ],
    [
      'entries in another order',
      set('entries', (lines: string[]) => lines.toReversed()),
      /an entry is not in its place/,
    ],
    [
      'what the server found',
      set('disagreements', ['the command is another']),
      /the command is another/,
    ],
    [
      'a server that says no more than no',
      set('consistent', false),
      /the server found that row and audit disagree/,
    ],
  ])('%s', { timeout: PATIENCE_MS }, async (_, spoil, reason) => {
    const report = await both(spoil(goodBundle(signers)));
    expect(report).toMatchObject({ ok: false, verdict: 'refuted' });
    expect(report?.reason).toMatch(reason);
  });

  it(
    'an approval and its decisions that were left out in row and entries alike',
    { timeout: PATIENCE_MS },
    async () => {
      const good = goodBundle(signers);
      const entries = good.entries.filter((line) => !line.includes('"approval_'));
      const report = await both({ ...good, entries, approvals: [] });
      expect(report?.reason).toMatch(
        /it waited for people and was begun, and no approval was used/,
      );
    },
  );

  it(
    'a checkpoint of another account, of another key, or behind an entry',
    { timeout: PATIENCE_MS },
    async () => {
      const good = goodBundle(signers);
      const cases: [object, RegExp][] = [
        [
          checkpointOf(audit.key, good, { account_id: 'acct_b' }),
          /the checkpoint is of another account/,
        ],
        [checkpointOf(stranger.key, good), /the signature of the checkpoint is not valid/],
        [
          { ...checkpointOf(stranger.key, good), kid: audit.key.kid },
          /the signature of the checkpoint is not valid/,
        ],
        [checkpointOf(audit.key, good, { through_sequence: 5 }), /an entry is not in its place/],
      ];
      for (const [checkpoint, reason] of cases) {
        const report = await both({ ...good, checkpoint });
        expect(report?.verdict).toBe('refuted');
        expect(report?.reason).toMatch(reason);
      }
    },
  );

  it(
    'entries of another account, in whole or beside its own',
    { timeout: PATIENCE_MS },
    async () => {
      const good = goodBundle(signers);
      const elsewhere = { ...good, operation: { ...good.operation, account_id: 'acct_b' } };
      expect((await both(elsewhere))?.reason).toMatch(
        /the hashes are not those of head|of another operation/,
      );
      const other = goodBundle({ ...signers, account: 'acct_b' });
      const mixed = { ...good, entries: other.entries, proofs: other.proofs };
      expect((await both(mixed))?.verdict).toBe('refuted');
    },
  );
});

describe('a bundle that proves less', () => {
  it(
    'is unproven where events are not sealed yet, and says to ask again',
    { timeout: PATIENCE_MS },
    async () => {
      const good = goodBundle(signers);
      const early = { ...good, entries: good.entries.slice(0, -2), unsealed: 2 };
      const report = await both(early);
      expect(report).toMatchObject({ ok: false, verdict: 'unproven', unsealed: 2 });
      expect(report?.reason).toMatch(/^2 of its events are not sealed yet.*ask again/);
      expect(await both({ ...early, consistent: false })).toMatchObject({ verdict: 'refuted' });
    },
  );

  it('is unproven where retention took its claim', { timeout: PATIENCE_MS }, async () => {
    const good = goodBundle(signers);
    const late = { ...good, entries: good.entries.slice(-3) };
    const cut = { ...late, checkpoint: checkpointOf(audit.key, late) };
    expect(await both(cut)).toMatchObject({
      ok: false,
      verdict: 'unproven',
      reason: expect.stringMatching(/retention has removed its claim/),
    });
    for (const path of ['status', 'fingerprint', 'response_sha256', 'provider_reference']) {
      const spoilt = set(`operation.${path}`, 'cd'.repeat(32))(cut);
      expect(await both(spoilt)).toMatchObject({ verdict: 'refuted' });
    }
  });

  it(
    'is unproven where signatures were not checked, and says which',
    { timeout: PATIENCE_MS },
    async () => {
      const good = goodBundle(signers);
      const [heads, people] = [audit.verifier, desk.verifier];
      expect(await both(good, { heads: undefined, desk: people })).toMatchObject({
        ok: false,
        verdict: 'unproven',
        signatures: 'unchecked',
        decision_signatures: 'valid',
        reason: expect.stringMatching(/--public-keys/),
      });
      expect(await both(good, { heads, desk: undefined })).toMatchObject({
        ok: false,
        verdict: 'unproven',
        signatures: 'valid',
        decision_signatures: 'unchecked',
        reason: expect.stringMatching(/--desk-keys/),
      });
      const moved = set('approvals.0.votes.0.owner', 'another team')(good);
      expect(await both(moved, { heads, desk: undefined })).toMatchObject({ verdict: 'refuted' });
      expect(await both(pendingBundle(signers), { heads, desk: undefined })).toMatchObject({
        ok: true,
        decision_signatures: 'none',
      });
    },
  );
});

describe('whatever is put in the place of whatever', () => {
  const values = [
    undefined,
    null,
    true,
    0,
    1,
    -1,
    1.5,
    1e21,
    '',
    'a',
    'approved',
    '\u2028é😀',
    [],
    {},
  ];

  it('both verifiers say the same', { timeout: PATIENCE_MS }, async () => {
    const good = goodBundle(signers);
    const bundles = [
      { ...good, checkpoint: checkpointOf(audit.key, good) },
      rejectedBundle(signers),
    ];
    const spoilings = fc.record({
      bundle: fc.constantFrom(...bundles),
      at: fc.nat(10_000),
      up: fc.nat(2),
      value: fc.constantFrom(...values),
    });
    await fc.assert(
      fc.asyncProperty(spoilings, async ({ bundle, at, up, value }) => {
        const leaves = leavesOf(bundle);
        const leaf = leaves[at % leaves.length] ?? [];
        const path = leaf.slice(0, Math.max(1, leaf.length - up));
        const keys = { heads: audit.verifier, desk: at % 2 === 0 ? desk.verifier : undefined };
        // Fails where they differ.
        await both(
          changed(bundle, path, () => value),
          keys,
        );
      }),
      { numRuns: 20 },
    );
  });
});

describe('a file that is no bundle', () => {
  it.each<[string, Spoiling]>([
    ['null', () => null],
    ['a list', () => []],
    ['without entries', set('entries', undefined)],
    ['with a number for an entry', set('entries.0', 7)],
    ['with a lone surrogate', set('operation.agent_run', '\ud800')],
    ['of another version', set('v', 2)],
  ])('ends with a sentence: %s', { timeout: PATIENCE_MS }, async (_, spoil) => {
    expect(await both(spoil(goodBundle(signers)))).toBeUndefined();
  });
});

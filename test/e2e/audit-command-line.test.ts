// The audit of a running system, taken out and checked with the commands as somebody types them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CredentialsFile } from '../../src/bootstrap/first-credentials.ts';
import type { EvidenceBundle } from '../../src/domain/evidence-bundle.ts';
import { makeKeys, type TestKeys } from '../support/audit-log.ts';
import { holdfast, python } from '../support/audit-verifiers.ts';
import { startSystem, type RunningSystem } from '../support/running-system.ts';
import { until } from '../support/until.ts';

let keys: TestKeys;
let system: RunningSystem;
let caller: Readonly<Record<string, string>>;
beforeAll(async () => {
  keys = makeKeys();
  system = await startSystem({
    env: {
      AUDIT_KEY_FILE: join(keys.folder, 'audit.pem'),
      AUDIT_PUBLIC_KEYS: keys.publicKeys,
      AUDIT_HEADS: join(keys.folder, 'heads'),
      AUDIT_SEAL_INTERVAL_MS: '100',
    },
  });
  const { accounts } = JSON.parse(
    readFileSync(join(system.home, 'credentials.json'), 'utf8'),
  ) as CredentialsFile;
  caller = {
    HOLDFAST_URL: system.apis[0]?.url ?? '',
    HOLDFAST_API_KEY: accounts['acct_a']?.['auditor']?.token ?? '',
  };
});
afterAll(async () => {
  await system.stop();
  keys.remove();
});

const file = (name: string): string => join(keys.folder, name);
const trusted = (...args: string[]) => [...args, '--public-keys', keys.publicKeys, '--json'];

/** Both verifiers on one export, with what the last line of each says. */
async function verdicts(log: string, head: string) {
  const both = [
    await holdfast(['audit', 'verify', log, ...trusted('--head', head)]),
    await python([log, ...trusted('--head', head)]),
  ];
  return both.map(({ exit, last }) => ({ exit, ...(JSON.parse(last) as object) }));
}

const sealed = () =>
  until('all is sealed', async () => {
    const { rows } = await system.pool.query(
      'select count(*)::int as waiting from audit_events where sequence is null',
    );
    return rows[0].waiting === 0;
  });

/** Some payments, and their audit in files. */
async function exported(): Promise<{
  readonly id: string;
  readonly log: string;
  readonly head: string;
}> {
  const answers = await Promise.all(Array.from({ length: 4 }, () => system.submit({ wait: 30 })));
  const id = answers[0]?.body.operation_id ?? '';
  await sealed();
  const [log, head] = [file('log.jsonl'), file('head.json')];
  expect(await holdfast(['audit', 'head', '--out', head], caller)).toMatchObject({ exit: 0 });
  const taken = await holdfast(['audit', 'export', '--account', 'acct_a', '--out', log], caller);
  expect(taken).toMatchObject({ exit: 0, stderr: '' });
  return { id, log, head };
}

describe('the audit of a running system', () => {
  it('is taken out by command, and is whole by both verifiers without the system', async () => {
    const { log, head } = await exported();
    const whole = { exit: 0, ok: true, first_bad: null, signatures: 'valid' };
    expect(await verdicts(log, head)).toMatchObject([whole, whole]);
    // The file that the sealer writes outside of the database is taken as it is.
    const heads = join(keys.folder, 'heads', 'acct_a.jsonl');
    expect(await verdicts(log, heads)).toMatchObject([whole, whole]);
  });

  it('that somebody changed is not whole by both, at the entry that was changed', async () => {
    const { log, head } = await exported();
    const lines = readFileSync(log, 'utf8').split('\n');
    lines[4] = (lines[4] ?? '').replace('"type":"', '"type":"x');
    writeFileSync(log, lines.join('\n'));
    const spoilt = { exit: 1, ok: false, first_bad: 5 };
    expect(await verdicts(log, head)).toMatchObject([spoilt, spoilt]);
  });

  it('proves one operation by its evidence, by both verifiers', async () => {
    const { id } = await exported();
    const bundle = file('evidence.json');
    expect(await holdfast(['evidence', id, '--out', bundle], caller)).toMatchObject({ exit: 0 });
    expect(await holdfast(['evidence', 'verify', bundle, ...trusted()])).toMatchObject({ exit: 0 });
    expect(await python(['--evidence', bundle, ...trusted()])).toMatchObject({ exit: 0 });
    const { last } = await holdfast(['evidence', id], caller);
    expect(JSON.parse(last)).toMatchObject({ operation: { operation_id: id }, consistent: true });
  });

  it('proves what people agreed to by the keys of the desk, and takes nobody’s word for it', async () => {
    const { body } = await system.submit({ amount: '5000.00' });
    expect(await system.decide(body)).toMatchObject({ status: 200 });
    await system.atRest(body.operation_id);
    await sealed();
    const bundle = file('approved.json');
    const asked = ['evidence', body.operation_id, '--out', bundle];
    expect(await holdfast(asked, caller)).toMatchObject({ exit: 0 });
    // Keys of both sorts are found under the home.
    const known = { HOLDFAST_HOME: system.home, AUDIT_PUBLIC_KEYS: keys.publicKeys };
    const whole = /^proven: \d+ entries; signatures of heads: valid, of decisions: valid$/;
    expect(await sentences(bundle, known)).toEqual([expect.stringMatching(whole), 0]);

    const told = JSON.parse(readFileSync(bundle, 'utf8')) as EvidenceBundle;
    const spoilt = { ...told, approvals: [], consistent: true, disagreements: [] };
    writeFileSync(bundle, JSON.stringify(spoilt));
    const missing =
      /^NOT proven: it does not fit together: approval apr_\S+ is in the audit, and missing/;
    expect(await sentences(bundle, known)).toEqual([expect.stringMatching(missing), 1]);

    writeFileSync(bundle, JSON.stringify(told));
    const unchecked = /^NOT proven: signatures of decisions were not checked: .*--desk-keys/;
    const half = { HOLDFAST_HOME: file('no-home'), AUDIT_PUBLIC_KEYS: keys.publicKeys };
    expect(await sentences(bundle, half)).toEqual([expect.stringMatching(unchecked), 1]);
  });
});

/** The sentence and exit code of both verifiers of a bundle; fails where they differ. */
async function sentences(bundle: string, env: Readonly<Record<string, string>>) {
  const ours = await holdfast(['evidence', 'verify', bundle], env);
  const theirs = await python(['--evidence', bundle], env);
  expect(theirs).toEqual(ours);
  return [ours.last, ours.exit];
}

describe('the command line', () => {
  it('says that signatures were not checked where it finds no keys, and trusts none that it was not told of', async () => {
    const { log, head } = await exported();
    const nowhere = { HOLDFAST_HOME: file('no-home') };
    for (const verdict of [
      await holdfast(['audit', 'verify', log, '--head', head, '--json'], nowhere),
      await python([log, '--head', head, '--json'], nowhere),
    ]) {
      expect(JSON.parse(verdict.last)).toMatchObject({ ok: true, signatures: 'unchecked' });
      expect(verdict.stderr).toMatch(/signatures are not checked/);
    }
    // People read the sentence: it is the same of both, and does not say "whole" of what nobody has signed.
    const sentence = [
      await holdfast(['audit', 'verify', log, '--head', head], nowhere),
      await python([log, '--head', head], nowhere),
    ].map(({ last }) => last);
    expect(sentence[0]).toMatch(
      /^whole by its hashes alone, and signatures were NOT checked: .*unchecked/,
    );
    expect(sentence[1]).toBe(sentence[0]);
    const others = makeKeys();
    for (const verdict of [
      await holdfast([
        'audit',
        'verify',
        log,
        '--head',
        head,
        '--public-keys',
        others.publicKeys,
        '--json',
      ]),
      await python([log, '--head', head, '--public-keys', others.publicKeys, '--json']),
    ]) {
      expect(verdict.exit).toBe(1);
      expect(JSON.parse(verdict.last)).toMatchObject({ ok: false, signatures: 'invalid' });
    }
    others.remove();
  });

  it.each([
    [['audit', 'verify', 'no-such-file', '--head', 'no-such-head'], /no such file/],
    [['audit', 'verify', 'x'], /--head/],
    [['audit', 'export', '--account', 'acct_a', '--out', 'x'], /HOLDFAST_API_KEY/],
    [['evidence', 'op_1'], /HOLDFAST_API_KEY/],
    [['no-such-command'], /unknown command/],
  ])('ends with 2 and a sentence where it can’t do what it is told: %j', async (args, sentence) => {
    const { exit, stderr } = await holdfast(args);
    expect([exit, stderr]).toEqual([2, expect.stringMatching(sentence)]);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  it('says what the API refused', async () => {
    const refused = await holdfast(
      ['audit', 'export', '--account', 'acct_b', '--out', file('b')],
      caller,
    );
    expect(refused).toMatchObject({ exit: 2, stderr: expect.stringContaining('not_found') });
    const nobody = await holdfast(['evidence', 'op_1'], { ...caller, HOLDFAST_API_KEY: 'nobody' });
    expect(nobody).toMatchObject({ exit: 2, stderr: expect.stringContaining('unauthenticated') });
  });
});

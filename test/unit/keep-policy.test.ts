// The policy in force follows its file, and never a broken one.
import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sha256Hex } from '../../src/domain/sha256.ts';
import { showPolicy } from '../../src/observability/metrics.ts';
import { keepPolicy, type KeptPolicy } from '../../src/policy/keep-policy.ts';
import { until } from '../support/until.ts';

const fileOf = (...kinds: string[]) =>
  `policy_format: 1\nrules:\n  - { name: all, when: { kind: [${kinds.join(', ')}] }, verdict: allow }\n`;
const ONE = fileOf('payment');
const TWO = fileOf('payment', 'refund');
const BROKEN = `${ONE}surprise: 1\n`;

/** Far beyond any test: then only a signal makes it look. */
const NEVER_MS = 3_600_000;

let folder: string;
let policyFile: string;
let lines: string[];
let kept: KeptPolicy | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-policy-'));
  policyFile = join(folder, 'policy.yaml');
  lines = [];
  writeFileSync(policyFile, ONE);
});
afterEach(() => {
  kept?.stop();
  kept = undefined;
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

function keep(lookEveryMs = NEVER_MS): KeptPolicy {
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const source = { policyFile, approvalTtlMs: 1_000 };
  kept = keepPolicy(source, ['payment', 'refund'], logger, lookEveryMs);
  return kept;
}

const hup = () => process.emit('SIGHUP', 'SIGHUP');

describe('the policy in force', () => {
  it('is that of the file', () => {
    const { current, isFresh } = keep();
    expect([current().version, isFresh()]).toEqual([sha256Hex(ONE), true]);
  });

  it('becomes the new one when the file changes', async () => {
    const { current } = keep(10);
    writeFileSync(policyFile, TWO);
    await until('the new file is seen', () => current().version === sha256Hex(TWO));
  });

  it('is also seen where the file is replaced, or a link to it', async () => {
    const linked = join(folder, 'linked.yaml');
    symlinkSync(policyFile, linked);
    const wanted = policyFile;
    policyFile = linked;
    const { current } = keep(10);
    writeFileSync(join(folder, 'next'), TWO);
    renameSync(join(folder, 'next'), wanted);
    await until('the replaced file is seen', () => current().version === sha256Hex(TWO));
  });

  it('is not that of a file that is half written: it has to be found twice alike', () => {
    vi.useFakeTimers();
    const { current } = keep(10);
    const seen = new Set<string>();
    for (let part = 1; part <= 40; part++) {
      writeFileSync(policyFile, `${TWO}# ${'x'.repeat(part)}\n`);
      vi.advanceTimersByTime(10);
      seen.add(current().version);
    }
    expect([...seen]).toEqual([sha256Hex(ONE)]);
    vi.advanceTimersByTime(10);
    expect(current().version).not.toBe(sha256Hex(ONE));
  });

  it('is read at once on SIGHUP', () => {
    const { current } = keep();
    writeFileSync(policyFile, TWO);
    expect(current().version).toBe(sha256Hex(ONE));
    hup();
    expect(current().version).toBe(sha256Hex(TWO));
  });

  it('stays where the new file has a fault, which is logged with its line and shown', async () => {
    const { current, isFresh } = keep();
    const registry = new Registry();
    showPolicy(registry, isFresh);
    const gauge = async () => (await registry.getMetricsAsJSON())[0];
    expect(await gauge()).toMatchObject({ name: 'holdfast_policy_fresh', values: [{ value: 1 }] });
    writeFileSync(policyFile, BROKEN);
    hup();
    expect([current().version, isFresh()]).toEqual([sha256Hex(ONE), false]);
    expect(lines.at(-1)).toContain('policy.yaml:4:1: there is no member surprise here');
    const told = lines.length;
    hup();
    expect(lines).toHaveLength(told);
    expect(await gauge()).toMatchObject({ values: [{ value: 0 }] });
    writeFileSync(policyFile, ONE);
    hup();
    expect(isFresh()).toBe(true);
  });

  it('stays where the file is gone', async () => {
    const { current, isFresh } = keep(10);
    rmSync(policyFile);
    await until('it is missed', () => !isFresh());
    expect(current().version).toBe(sha256Hex(ONE));
    writeFileSync(policyFile, TWO);
    await until('it is back', () => isFresh() && current().version === sha256Hex(TWO));
  });

  it('is followed no longer after stop', () => {
    const listeners = process.listenerCount('SIGHUP');
    const { current, stop } = keep();
    stop();
    expect(process.listenerCount('SIGHUP')).toBe(listeners);
    writeFileSync(policyFile, TWO);
    hup();
    expect(current().version).toBe(sha256Hex(ONE));
  });
});

describe('a start', () => {
  it.each([
    [
      'with a fault',
      () => writeFileSync(policyFile, BROKEN),
      /policy\.yaml:4:1: there is no member/,
    ],
    ['without its file', () => rmSync(policyFile), /policy\.yaml: ENOENT/],
    [
      'with other bytes than UTF-8',
      () => writeFileSync(policyFile, Buffer.of(0xff)),
      /is not UTF-8/,
    ],
  ])('is refused %s', (_, change, told) => {
    change();
    expect(() => keep()).toThrow(told);
  });

  it('warns of kinds that there are not: a misspelt one would make a rule speak of nothing', () => {
    writeFileSync(policyFile, fileOf('payment', 'refnud'));
    keep();
    expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({ level: expect.anything(), unknown_kinds: ['refnud'] }),
    );
  });
});

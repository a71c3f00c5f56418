import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSandbox } from '../../src/sandbox/app.ts';
import { errorCodeOf, sandbox } from './client.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'holdfast-sandbox-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

describe('after a restart', () => {
  it('knows every effect and answer, and goes on counting', async () => {
    const before = await sandbox({ home });
    await before.script('decline', 'error_500_cached', 'accepted_async', 'ok');
    const first = [];
    for (const token of ['a', 'b', 'c', 'd']) first.push(await before.write({ token }));
    await before.admin('/admin/objects/settle', { kind: 'payment', token: 'c', state: 'done' });
    const effects = await before.effects();
    await before.stop();

    const after = await sandbox({ home });
    expect(await after.effects()).toEqual(effects);
    const again = [];
    for (const token of ['a', 'b', 'c', 'd']) again.push(await after.write({ token }));
    expect(again.map(({ text }) => text)).toEqual(first.map(({ text }) => text));
    expect((await after.lookup({ token: 'c' })).data).toMatchObject([{ state: 'done' }]);
    await after.write({ token: 'e' });
    expect((await after.effects()).map((one) => one['seq'])).toEqual([1, 2, 3, 4]);
  });

  it('finds what was done although its answer was lost', async () => {
    const before = await sandbox({ home });
    await before.script('commit_then_reset');
    await errorCodeOf(before.write());
    await before.stop();
    const after = await sandbox({ home });
    expect((await after.lookup({ token: 't-1' })).data).toMatchObject([{ state: 'done' }]);
  });

  it('has not done what still waited to be done', async () => {
    const before = await sandbox({ home, hangMs: 60_000 });
    await before.script('hang_then_commit');
    const lost = errorCodeOf(before.write());
    await expect.poll(before.calls).toHaveLength(1);
    await before.stop();
    expect(await lost).toBeDefined();
    const after = await sandbox({ home });
    expect(await after.effects()).toEqual([]);
    expect((await after.write()).status).toBe(201);
  });

  it('reads a journal whose last line was cut off, and writes on after it', async () => {
    const before = await sandbox({ home });
    await before.write();
    await before.stop();
    await appendFile(join(home, 'sandbox.jsonl'), '{"effect":{"seq":2,"id":"pay_half');
    const after = await sandbox({ home });
    expect(await after.effects()).toHaveLength(1);
    await after.write({ token: 't-2' });
    await after.stop();
    const last = await sandbox({ home });
    expect(await last.effects()).toHaveLength(2);
  });

  it('refuses to start on a journal that it cannot read', async () => {
    await writeFile(join(home, 'sandbox.jsonl'), '{"effect":1}\n');
    expect(() => createSandbox({ home })).toThrow(/sandbox\.jsonl line 1 can't be read/);
  });

  it('writes no credential down', async () => {
    const provider = await sandbox({ home });
    await provider.write({ credential: 'secret-credential' });
    expect(await readFile(join(home, 'sandbox.jsonl'), 'utf8')).not.toContain('secret-credential');
  });
});

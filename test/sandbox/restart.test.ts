import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSandbox } from '../../src/sandbox/app.ts';
import { errorCodeOf, sandbox } from './client.ts';
import { receiver } from './receiver.ts';

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

  it('knows what webhooks, rigs and people made of things', async () => {
    const ear = await receiver();
    const webhooks = [ear.endpoint()];
    const before = await sandbox({ home, webhooks });
    await before.script('error_503_not_executed', 'accepted_async');
    for (const token of ['a', 'b']) {
      await before.write({ token });
      const wanted = { event: 'payment.succeeded', kind: 'payment', token };
      await before.admin('/admin/webhooks/deliver', wanted);
    }
    await before.admin('/admin/world', { do: 'seed', resource: 'ticket', name: 'T-9' });
    for (const ticket of ['T-1', 'T-9']) {
      await before.admin('/admin/world', { do: 'person_sets', ticket, status: 'closed' });
    }
    const effects = await before.effects();
    expect(effects).toMatchObject([{ state: 'done' }, { state: 'done' }]);
    await before.stop();

    const after = await sandbox({ home, webhooks });
    expect(await after.effects()).toEqual(effects);
    expect((await after.write({ token: 'a' })).status).toBe(200);
    for (const reference of ['T-1', 'T-9']) {
      const { data } = await after.lookup({ reference }, 'acct', 'ticket');
      expect(data).toMatchObject([{ status: 'closed' }]);
    }
    await after.admin('/admin/webhooks/deliver', { event: 'payment.succeeded', kind: 'payment' });
    const [, second, third] = ear.events();
    expect(third).toEqual({ ...second, id: third?.id });
  });

  it('writes no credential down', async () => {
    const provider = await sandbox({ home });
    await provider.write({ credential: 'secret-credential' });
    expect(await readFile(join(home, 'sandbox.jsonl'), 'utf8')).not.toContain('secret-credential');
  });
});

const portOf = (url: string) => Number(new URL(url).port);

describe('a start on a port that is taken', () => {
  it.each(['port', 'adminPort'] as const)('%s: ends with a sentence', async (which) => {
    const other = await sandbox();
    const taken = portOf(which === 'port' ? other.url : other.adminUrl);
    const name = which === 'port' ? 'SANDBOX_PORT' : 'SANDBOX_ADMIN_PORT';
    await expect(sandbox({ [which]: taken })).rejects.toThrow(
      `port ${taken} is in use; stop what listens there or set ${name} to a free port`,
    );
  });

  it('leaves the journal and the other port alone', async () => {
    const other = await sandbox({ home });
    await appendFile(join(home, 'sandbox.jsonl'), '{"half a line');
    const free = await sandbox();
    await free.stop();
    const port = portOf(free.url);
    const wanted = { home, port, adminPort: portOf(other.adminUrl) };
    await expect(sandbox(wanted)).rejects.toThrow(/is in use/);
    expect(await readFile(join(home, 'sandbox.jsonl'), 'utf8')).toBe('{"half a line');
    await sandbox({ port });
  });
});

// A database of one's own: migrating it makes nobody, the offline command makes the first admin, and development credentials come only
// where they are asked for. The compiled processes, as a deployment runs them.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPool, type Pool } from '../../src/store/pool.ts';
import { findCaller, hasNoPrincipals } from '../../src/store/principals.store.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

const BIN = fileURLToPath(new URL('../../dist/bin/', import.meta.url));
let database: TestDatabase;
let pool: Pool;
let home: string;
beforeEach(async () => {
  database = await createTestDatabase();
  pool = createPool(database.url, { max: 2, onIdleError: () => {} });
  home = mkdtempSync(join(tmpdir(), 'holdfast-home-'));
});
afterEach(async () => {
  await pool.end();
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const runToEnd = (name: string, args: readonly string[] = [], env: object = {}): Promise<Ended> =>
  new Promise((resolve) => {
    const own = { PATH: process.env['PATH'], DATABASE_URL: database.url, HOLDFAST_HOME: home };
    execFile(
      process.execPath,
      [join(BIN, `${name}.js`), ...args],
      { env: { ...own, ...env } },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });

describe('migrating a database of one’s own', () => {
  it('lets nobody in, and says how the first admin is made', async () => {
    const { code, stderr } = await runToEnd('migrate');
    expect(code).toBe(0);
    expect(stderr).toContain('first-admin');
    expect(await hasNoPrincipals(pool)).toBe(true);
    expect(existsSync(join(home, 'credentials.json'))).toBe(false);
  });

  it('makes development credentials where they are asked for', async () => {
    expect((await runToEnd('migrate', [], { HOLDFAST_FIRST_CREDENTIALS: '1' })).code).toBe(0);
    expect(existsSync(join(home, 'credentials.json'))).toBe(true);
    expect(await hasNoPrincipals(pool)).toBe(false);
  });
});

describe('the command for the first admin', () => {
  it('writes a key that works, and nothing else, to standard output', async () => {
    const made = await runToEnd('admin', ['first-admin', '--account', 'acct_a', '--owner', 'ada']);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^hf_[\w-]{43}\n$/) });
    const secret = made.stdout.trim();
    expect(made.stderr).not.toContain(secret);
    expect((await findCaller(pool, secret, null))?.principal).toEqual({
      principalId: 'acct_a.admin',
      accountId: 'acct_a',
      owner: 'ada',
      roles: ['admin'],
      grants: [],
    });
    const again = await runToEnd('admin', ['first-admin', '--account', 'acct_a']);
    expect(again.stdout.trim()).not.toBe(secret);
    for (const one of [secret, again.stdout.trim()]) {
      expect((await findCaller(pool, one, null))?.principal.principalId).toBe('acct_a.admin');
    }
  });

  it.each([
    ['without an account', ['first-admin']],
    ['with an account that no connection serves', ['first-admin', '--account', 'acct_z']],
    ['with an account that can be none', ['first-admin', '--account', 'A-B']],
    ['that is not known', ['last-admin', '--account', 'acct_a']],
  ])('%s fails with a sentence and makes nobody', async (_, args) => {
    const { code, stdout, stderr } = await runToEnd('admin', args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/\w+/);
    expect(stderr).not.toContain('    at ');
    expect(await hasNoPrincipals(pool)).toBe(true);
  });
});

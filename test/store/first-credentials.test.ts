// Each test has an empty database and a home of its own.
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ensureFirstCredentials,
  type CredentialsFile,
} from '../../src/bootstrap/first-credentials.ts';
import { createPool, type Pool } from '../../src/store/pool.ts';
import { findCaller, hasNoPrincipals } from '../../src/store/principals.store.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
let pool: Pool;
let home: string;
beforeEach(async () => {
  database = await createTestDatabase();
  pool = createPool(database.url, { max: 5, onIdleError: () => {} });
  home = mkdtempSync(join(tmpdir(), 'holdfast-home-'));
});
afterEach(async () => {
  await pool.end();
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

const KINDS = ['payment', 'refund'];
const path = () => join(home, 'credentials.json');
const read = (): CredentialsFile => JSON.parse(readFileSync(path(), 'utf8'));
const ensure = () => ensureFirstCredentials(pool, home, KINDS);

describe('the first credentials', () => {
  it('have the shape of the contract: two accounts with their people', async () => {
    await ensure();
    const { accounts } = read();
    expect(Object.keys(accounts)).toEqual(['acct_a', 'acct_b']);
    for (const people of Object.values(accounts)) {
      expect(Object.keys(people).toSorted()).toEqual(
        ['agent', 'agent_2', 'approver', 'operator', 'operator_2', 'auditor', 'admin'].toSorted(),
      );
      for (const one of Object.values(people)) {
        expect(one).toEqual({ token: expect.any(String), principal_id: expect.any(String) });
      }
    }
  });

  it('are read by their owner only', async () => {
    await ensure();
    expect(statSync(path()).mode & 0o777).toBe(0o600);
  });

  it('are read by their owner only, also where an earlier start left a file behind', async () => {
    writeFileSync(`${path()}.new`, '');
    chmodSync(`${path()}.new`, 0o644);
    await ensure();
    expect(statSync(path()).mode & 0o777).toBe(0o600);
  });

  it('work, each with its account, role and own owner; agents hold every grant', async () => {
    await ensure();
    const owners = new Set<string>();
    for (const [account, people] of Object.entries(read().accounts)) {
      for (const [name, { token, principal_id }] of Object.entries(people)) {
        const principal = (await findCaller(pool, token, null))?.principal;
        expect(principal).toMatchObject({ principalId: principal_id, accountId: account });
        expect(principal?.roles).toEqual([name.replace(/_2$/, '')]);
        expect(principal?.grants).toEqual(name.startsWith('agent') ? KINDS : []);
        owners.add(principal?.owner ?? '');
      }
    }
    expect(owners.size).toBe(14);
  });

  it('are random and long', async () => {
    await ensure();
    const tokens = Object.values(read().accounts).flatMap((people) =>
      Object.values(people).map(({ token }) => token),
    );
    expect(new Set(tokens).size).toBe(14);
    for (const token of tokens) expect(token.length).toBeGreaterThanOrEqual(43);
  });

  it('are written once: the second start changes neither file nor rows', async () => {
    await ensure();
    const before = readFileSync(path(), 'utf8');
    await ensure();
    expect(readFileSync(path(), 'utf8')).toBe(before);
    const { rows } = await pool.query('select count(*)::int as count from api_keys');
    expect(rows).toEqual([{ count: 14 }]);
  });

  it('are in the file before they are in the database, and a later start takes up that file', async () => {
    await pool.query(
      `alter table api_keys add constraint broken check (key_id not like '%admin%')`,
    );
    await expect(ensure()).rejects.toThrow(/broken/);
    const before = readFileSync(path(), 'utf8');
    await pool.query('alter table api_keys drop constraint broken');
    expect(await hasNoPrincipals(pool)).toBe(true);
    await ensure();
    expect(readFileSync(path(), 'utf8')).toBe(before);
    const { token } = read().accounts['acct_a']?.['agent'] ?? { token: '' };
    expect(await findCaller(pool, token, null)).toBeDefined();
  });

  it('are not written where principals exist', async () => {
    await pool.query(`insert into principals values ('p', 'acct_z', 'team', '{operator}')`);
    await ensure();
    expect(() => statSync(path())).toThrow(/ENOENT/);
  });
});

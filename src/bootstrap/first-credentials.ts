// The first credentials of an empty database, so that a fresh installation can be tried at once (contract §3). They are written to a
// file that only its owner reads; the database keeps hashes.
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { newApiKeySecret } from '../identity/api-key-secret.ts';
import {
  addPrincipals,
  hasNoPrincipals,
  lockFirstStart,
  type NewPrincipal,
  type Role,
} from '../store/principals.store.ts';
import type { Pool } from '../store/pool.ts';
import { inTransaction } from '../store/transaction.ts';

/** Two accounts, so that their separation can be tried. */
const ACCOUNTS = ['acct_a', 'acct_b'];
const PEOPLE: Readonly<Record<string, Role>> = {
  agent: 'agent',
  agent_2: 'agent',
  approver: 'approver',
  operator: 'operator',
  operator_2: 'operator',
  auditor: 'auditor',
  admin: 'admin',
};

interface Credential {
  readonly token: string;
  readonly principal_id: string;
}

/** Content of `credentials.json`. */
export interface CredentialsFile {
  readonly accounts: Readonly<Record<string, Readonly<Record<string, Credential>>>>;
}

/** Writes `credentials.json` under `home` and creates its principals, unless the database already has some. */
export async function ensureFirstCredentials(
  pool: Pool,
  home: string,
  kinds: readonly string[],
): Promise<void> {
  await inTransaction(pool, async (db) => {
    await lockFirstStart(db);
    if (!(await hasNoPrincipals(db))) return;
    // The file first: tokens that only the database's hashes know would be lost for ever.
    const path = join(home, 'credentials.json');
    const file = (await readIfThere(path)) ?? (await writeNew(path, home));
    await addPrincipals(db, principalsOf(file, kinds));
  });
}

async function readIfThere(path: string): Promise<CredentialsFile | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as CredentialsFile;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function writeNew(path: string, home: string): Promise<CredentialsFile> {
  const accounts = Object.fromEntries(ACCOUNTS.map((account) => [account, newPeople(account)]));
  const file: CredentialsFile = { accounts };
  await mkdir(home, { recursive: true });
  // A leftover would keep its own mode, so it goes first.
  await rm(`${path}.new`, { force: true });
  const handle = await open(`${path}.new`, 'wx', 0o600);
  await handle.writeFile(`${JSON.stringify(file, null, 2)}\n`);
  await handle.sync();
  await handle.close();
  await rename(`${path}.new`, path);
  return file;
}

function newPeople(account: string): Record<string, Credential> {
  return Object.fromEntries(
    Object.keys(PEOPLE).map((name) => [
      name,
      { token: newApiKeySecret(), principal_id: `${account}.${name}` },
    ]),
  );
}

function principalsOf(file: CredentialsFile, kinds: readonly string[]): NewPrincipal[] {
  return Object.entries(file.accounts).flatMap(([accountId, people]) =>
    Object.entries(people).map(([name, { token, principal_id }]) => {
      const role = PEOPLE[name] ?? 'agent';
      return {
        principalId: principal_id,
        accountId,
        // Each has its own owner, so that nobody is kept from deciding by a shared one.
        owner: `owner-of-${principal_id}`,
        roles: [role],
        grants: role === 'agent' ? kinds : [],
        keyId: `${principal_id}.first`,
        secret: token,
      };
    }),
  );
}

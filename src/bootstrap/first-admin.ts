// The first admin of an account, and the way back in when all are locked out. Whoever may write to the database could do it by hand; so
// this asks for nothing more, and writes down that it was done.
import { randomUUID } from 'node:crypto';
import { ACCOUNT_ID } from '../domain/principal.ts';
import { newApiKeySecret } from '../identity/api-key-secret.ts';
import { lockAdministration, logAdministration } from '../store/administration.store.ts';
import { createKey } from '../store/api-keys.store.ts';
import { createPrincipal, readPrincipal, setDisabled } from '../store/principal-directory.store.ts';
import type { Pool, Queryable } from '../store/pool.ts';
import { inTransaction } from '../store/transaction.ts';

export interface AdminWish {
  readonly accountId: string;
  readonly name: string;
  /** Of a new admin; without it, it is its own. */
  readonly owner?: string | undefined;
}

export interface AdminKey {
  readonly principalId: string;
  readonly keyId: string;
  readonly secret: string;
}

const NAME = /^[a-z0-9_-]{1,64}$/;

/** Gives the admin a new key; creates it, or takes it again where it was disabled. Its other keys stay as they are. */
export async function ensureAdmin(pool: Pool, wish: AdminWish): Promise<AdminKey> {
  const { accountId, name } = wish;
  if (!ACCOUNT_ID.test(accountId)) throw new Error('an account is 1 to 64 of a-z, 0-9 and _');
  if (!NAME.test(name)) throw new Error('a name is 1 to 64 of a-z, 0-9, _ and -');
  const principalId = `${accountId}.${name}`;
  const secret = newApiKeySecret();
  const keyId = `key_${randomUUID()}`;
  await inTransaction(pool, async (db) => {
    await lockAdministration(db, accountId);
    await ensureUsable(db, wish, principalId);
    await createKey(db, { keyId, principalId, secret, expiresAt: null });
    const entry = { accountId, by: null, principalId, subject: keyId };
    await logAdministration(db, { ...entry, action: 'key_created' });
  });
  return { principalId, keyId, secret };
}

async function ensureUsable(db: Queryable, wish: AdminWish, principalId: string): Promise<void> {
  const { accountId, owner = principalId } = wish;
  const entry = { accountId, by: null, principalId };
  const one = { principalId, accountId, owner, roles: ['admin' as const], grants: [] };
  if (await createPrincipal(db, one)) {
    await logAdministration(db, { ...entry, action: 'principal_created' });
    return;
  }
  const found = await readPrincipal(db, accountId, principalId);
  if (!found?.roles.includes('admin')) {
    throw new Error(`${principalId} is there and is no admin: choose another --name`);
  }
  if (await setDisabled(db, principalId, false)) {
    await logAdministration(db, { ...entry, action: 'principal_enabled' });
  }
}

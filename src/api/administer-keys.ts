// The use cases of an admin: API keys of the own account's principals. A secret leaves here once, in the answer to who asked for it.
import { randomUUID } from 'node:crypto';
import { HoldfastError } from '../domain/operation-error.ts';
import { newApiKeySecret } from '../identity/api-key-secret.ts';
import {
  createKey,
  endKeyIn,
  listKeys,
  lockKey,
  revokeKey,
  type ApiKey,
  type FoundKey,
} from '../store/api-keys.store.ts';
import type { Queryable } from '../store/pool.ts';
import type { Principal } from '../store/principals.store.ts';
import { change, principalIn } from './administer-principals.ts';
import type { ApiDependencies } from './dependencies.ts';

type Deps = Pick<ApiDependencies, 'pool' | 'issuer' | 'logger'>;

export interface NewKey extends ApiKey {
  readonly secret: string;
}

export async function keysOf(
  { pool }: Pick<ApiDependencies, 'pool'>,
  admin: Principal,
  principalId: string,
): Promise<ApiKey[]> {
  await principalIn(pool, admin.accountId, principalId);
  return listKeys(pool, principalId);
}

export async function addKey(
  deps: Deps,
  admin: Principal,
  principalId: string,
  expiresAt: string | null,
): Promise<NewKey> {
  return change(deps, admin, async (db, log) => {
    const { signsInBy } = await principalIn(db, admin.accountId, principalId);
    if (signsInBy === 'oidc') {
      const detail = 'It signs in by the identity provider; a key would outlive what that says.';
      throw new HoldfastError('wrong_state', detail);
    }
    const key = await newKey(db, principalId, expiresAt);
    await log({ action: 'key_created', principalId, subject: key.keyId });
    return key;
  });
}

export interface Rotation {
  /** How long the old key works beside the new one. */
  readonly overlapSeconds: number;
  /** Of the new key; undefined: it lives as long as the old one was made for. */
  readonly expiresAt: string | undefined;
}

/** A new key in the place of one that is in use. */
export async function rotateKey(
  deps: Deps,
  admin: Principal,
  keyId: string,
  { overlapSeconds, expiresAt }: Rotation,
): Promise<NewKey> {
  return change(deps, admin, async (db, log) => {
    const old = await keyIn(db, admin.accountId, keyId);
    if (!old.inUse) {
      const detail = 'This key is revoked or expired: create another one.';
      throw new HoldfastError('wrong_state', detail);
    }
    const key = await newKey(db, old.principalId, expiresAt ?? old.renewedUntil);
    await endKeyIn(db, keyId, overlapSeconds);
    await log({ action: 'key_rotated', principalId: old.principalId, subject: keyId });
    await log({ action: 'key_created', principalId: old.principalId, subject: key.keyId });
    return key;
  });
}

/** From the commit on it names nobody; again changes nothing. */
export async function takeKey(deps: Deps, admin: Principal, keyId: string): Promise<ApiKey> {
  return change(deps, admin, async (db, log) => {
    const { principalId, revokedAt } = await keyIn(db, admin.accountId, keyId);
    const key = await revokeKey(db, keyId);
    if (!key) throw noSuchKey();
    if (revokedAt === null) await log({ action: 'key_revoked', principalId, subject: keyId });
    return key;
  });
}

async function newKey(
  db: Queryable,
  principalId: string,
  expiresAt: string | null,
): Promise<NewKey> {
  const secret = newApiKeySecret();
  const key = await createKey(db, { keyId: `key_${randomUUID()}`, principalId, secret, expiresAt });
  if (key) return { ...key, secret };
  throw new HoldfastError('invalid_command', 'The body can not be used; see errors.', {
    errors: [{ pointer: '/expires_at', detail: 'must be in the future' }],
  });
}

/** As long as an id can be, and without the one character that Postgres can't be asked about. */
const KEY_ID = /^[^\0]{1,255}$/;

async function keyIn(db: Queryable, accountId: string, keyId: string): Promise<FoundKey> {
  const found = KEY_ID.test(keyId) ? await lockKey(db, accountId, keyId) : undefined;
  if (!found) throw noSuchKey();
  return found;
}

/** The same answer for a key of another account and for one that never was. */
function noSuchKey(): HoldfastError {
  return new HoldfastError('not_found', 'There is no such key.');
}

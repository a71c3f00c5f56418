// API keys as admins see and change them. The secret itself is never here: it comes in once, and leaves as a hash.
import { sha256Bytes } from '../domain/sha256.ts';
import type { Pool, Queryable } from './pool.ts';

export interface ApiKey {
  readonly keyId: string;
  readonly principalId: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  /** To the minute; null: never. */
  readonly lastUsedAt: string | null;
}

const KEY = `k.key_id as "keyId", k.principal_id as "principalId", k.created_at as "createdAt",
  k.expires_at as "expiresAt", k.revoked_at as "revokedAt", k.last_used_at as "lastUsedAt"`;

export async function listKeys(pool: Pool, principalId: string): Promise<ApiKey[]> {
  const { rows } = await pool.query<ApiKey>(
    `select ${KEY} from api_keys k where k.principal_id = $1 order by k.created_at, k.key_id`,
    [principalId],
  );
  return rows;
}

export interface KeyToCreate {
  readonly keyId: string;
  readonly principalId: string;
  readonly secret: string;
  /** RFC 3339; null: it does not expire. */
  readonly expiresAt: string | null;
}

/** Undefined where it would be expired from the start. */
export async function createKey(db: Queryable, one: KeyToCreate): Promise<ApiKey | undefined> {
  const { rows } = await db.query<ApiKey>(
    `insert into api_keys as k (key_id, principal_id, secret_sha256, expires_at)
     select $1, $2, $3, $4::timestamptz where $4::timestamptz is null or $4::timestamptz > holdfast_now()
     returning ${KEY}`,
    [one.keyId, one.principalId, sha256Bytes(one.secret), one.expiresAt],
  );
  return rows[0];
}

export interface FoundKey extends ApiKey {
  /** Neither revoked nor expired. */
  readonly inUse: boolean;
  /** When a key of the same lifetime would expire that were made now; null: never. */
  readonly renewedUntil: string | null;
}

/** Locks it. Undefined for a key of another account as for one that never was. */
export async function lockKey(
  db: Queryable,
  accountId: string,
  keyId: string,
): Promise<FoundKey | undefined> {
  const { rows } = await db.query<FoundKey>(
    `select ${KEY}, holdfast_now() + (k.expires_at - k.created_at) as "renewedUntil",
       k.revoked_at is null and (k.expires_at is null or k.expires_at > holdfast_now()) as "inUse"
     from api_keys k join principals p using (principal_id)
     where k.key_id = $1 and p.account_id = $2 for update of k`,
    [keyId, accountId],
  );
  return rows[0];
}

/** Lets a key work this many seconds more, and no longer than it would have. */
export async function endKeyIn(db: Queryable, keyId: string, seconds: number): Promise<void> {
  await db.query(
    `update api_keys
     set expires_at = least(coalesce(expires_at, 'infinity'), holdfast_now() + $2 * interval '1 second')
     where key_id = $1`,
    [keyId, seconds],
  );
}

/** The key afterwards; one that was revoked before keeps that time. */
export async function revokeKey(db: Queryable, keyId: string): Promise<ApiKey | undefined> {
  const { rows } = await db.query<ApiKey>(
    `update api_keys k set revoked_at = coalesce(revoked_at, holdfast_now()) where key_id = $1
     returning ${KEY}`,
    [keyId],
  );
  return rows[0];
}

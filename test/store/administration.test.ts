import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { administer, logAdministration } from '../../src/store/administration.store.ts';
import { revokeKey } from '../../src/store/api-keys.store.ts';
import type { Queryable } from '../../src/store/pool.ts';
import { addPrincipals } from '../../src/store/principals.store.ts';
import { openRegister, type Register } from '../support/register.ts';

const ACCOUNT = { accountId: 'acct_a', issuer: null };
const KEYS = ['acct_a.admin.key', 'second.key'];
let register: Register;
beforeEach(async () => {
  register = await openRegister();
  const second = { principalId: 'second', accountId: 'acct_a', owner: 'o', grants: [] };
  await addPrincipals(register.pool, [
    { ...second, roles: ['admin'], keyId: 'second.key', secret: 'second' },
  ]);
});
afterEach(() => register.close());

const usableKeys = () =>
  register.count('select count(*) from api_keys where revoked_at is null and key_id = any ($1)', [
    KEYS,
  ]);

/** A commit then takes longer than the statements before it, so both are judged before either is there. */
async function commitSlowly(): Promise<void> {
  await register.rows(`create function slow() returns trigger language plpgsql as
    $$ begin perform pg_sleep(0.3); return null; end $$`);
  await register.rows(`create constraint trigger slow after update on api_keys
    deferrable initially deferred for each row execute function slow()`);
}

describe('changes of an account', () => {
  it('come one after the other: two that each leave an admin do not leave none together', async () => {
    await commitSlowly();
    let made = 0;
    let bothMade = (): void => {};
    const together = new Promise<void>((resolve) => (bothMade = resolve));
    /** Gives the other one every chance to make its change before either is judged. */
    const revokeTogether = (keyId: string) => async (db: Queryable) => {
      await revokeKey(db, keyId);
      made += 1;
      if (made === KEYS.length) bothMade();
      await Promise.race([together, pause(500)]);
    };
    const results = await Promise.all(
      KEYS.map((keyId) => administer(register.pool, ACCOUNT, revokeTogether(keyId))),
    );
    expect(results.filter((one) => one === 'no_admin_left')).toHaveLength(1);
    expect(await usableKeys()).toBe(1);
  });

  it('are undone with their log where nobody is left, or where they fail', async () => {
    const revokeAll = async (db: Queryable) => {
      for (const keyId of KEYS) {
        await revokeKey(db, keyId);
        const entry = { accountId: 'acct_a', by: null, principalId: 'second', subject: keyId };
        await logAdministration(db, { ...entry, action: 'key_revoked' });
      }
    };
    expect(await administer(register.pool, ACCOUNT, revokeAll)).toBe('no_admin_left');
    const failing = async (db: Queryable) => {
      await revokeAll(db);
      throw new Error('broken');
    };
    await expect(administer(register.pool, ACCOUNT, failing)).rejects.toThrow('broken');
    expect(await usableKeys()).toBe(2);
    expect(await register.count('select count(*) from administration_log')).toBe(0);
  });

  it('of different accounts do not wait for each other', async () => {
    const other = { accountId: 'acct_b', issuer: null };
    const nested = await administer(register.pool, ACCOUNT, () =>
      administer(register.pool, other, async () => 'done'),
    );
    expect(nested).toBe('done');
  });
});

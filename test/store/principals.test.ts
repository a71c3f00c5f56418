import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  accountsInUse,
  addPrincipals,
  findCaller,
  hasNoPrincipals,
  installationId,
  type NewPrincipal,
} from '../../src/store/principals.store.ts';
import { openRegister, secretOf, type Register } from '../support/register.ts';

let register: Register;
beforeAll(async () => {
  register = await openRegister();
});
afterAll(() => register.close());

const find = async (secret: string) => (await findCaller(register.pool, secret, null))?.principal;

let made = 0;
function newPrincipal(members: Partial<NewPrincipal> = {}): NewPrincipal {
  made += 1;
  return {
    principalId: `p-${made}`,
    accountId: 'acct_c',
    owner: 'team-c',
    roles: ['agent'],
    grants: ['payment', 'refund'],
    keyId: `k-${made}`,
    secret: `s-${made}`,
    ...members,
  };
}
async function added(members: Partial<NewPrincipal> = {}): Promise<NewPrincipal> {
  const one = newPrincipal(members);
  await addPrincipals(register.pool, [one]);
  return one;
}

describe('a secret', () => {
  it('names its principal with account, owner, roles and grants', async () => {
    const { principalId, secret } = await added();
    expect(await find(secret)).toEqual({
      principalId,
      accountId: 'acct_c',
      owner: 'team-c',
      roles: ['agent'],
      grants: expect.toSatisfy((all: string[]) => all.toSorted().join() === 'payment,refund'),
    });
  });

  it('that is unknown, empty or half of one names nobody', async () => {
    const { secret } = await added();
    for (const wrong of ['', 'unknown', secret.slice(1), secret.toUpperCase(), `${secret} `]) {
      expect(await find(wrong)).toBeUndefined();
    }
  });

  it('names nobody once it is revoked', async () => {
    const { secret, keyId } = await added();
    await register.pool.query('update api_keys set revoked_at = holdfast_now() where key_id = $1', [
      keyId,
    ]);
    expect(await find(secret)).toBeUndefined();
  });

  it('names nobody from its expiry on, by the database clock', async () => {
    const { secret, keyId } = await added();
    await register.pool.query(
      `update api_keys set expires_at = holdfast_now() + interval '1 hour' where key_id = $1`,
      [keyId],
    );
    expect(await find(secret)).toBeDefined();
    await register.shiftClock(3_600_001);
    expect(await find(secret)).toBeUndefined();
    await register.shiftClock(0);
    expect(await find(secret)).toBeDefined();
  });

  it('is stored nowhere: the database has its SHA-256 only', async () => {
    const secret = secretOf('acct_a.agent');
    const dump = await register.rows(
      `select to_jsonb(k)::text as k, to_jsonb(p)::text as p from api_keys k join principals p using (principal_id)`,
    );
    expect(JSON.stringify(dump)).not.toContain(secret);
    const digest = createHash('sha256').update(secret).digest();
    expect(
      await register.count('select count(*) from api_keys where secret_sha256 = $1', [digest]),
    ).toBe(1);
  });

  it('has its last use noted, once a minute at most', async () => {
    const { secret, keyId } = await added();
    const lastUse = async () =>
      (await register.rows('select last_used_at from api_keys where key_id = $1', [keyId]))[0]?.[
        'last_used_at'
      ];
    expect(await lastUse()).toBeNull();
    await find(secret);
    const first = await lastUse();
    expect(first).not.toBeNull();
    await find(secret);
    expect(await lastUse()).toBe(first);
    await register.shiftClock(61_000);
    await find(secret);
    expect(await lastUse()).not.toBe(first);
    await register.shiftClock(0);
  });
});

describe('a principal', () => {
  it('that is an agent has no other role', async () => {
    await expect(added({ roles: ['agent', 'approver'] })).rejects.toThrow(/check constraint/);
    await expect(added({ roles: ['approver', 'operator'] })).resolves.toBeDefined();
  });

  it('has at least one role, out of those that there are', async () => {
    await expect(added({ roles: [] })).rejects.toThrow(/check constraint/);
    await expect(added({ roles: ['root' as 'admin'] })).rejects.toThrow(/check constraint/);
  });

  it.each(['', 'Acct', 'a-b', 'a/b', 'a:b', 'x'.repeat(65)])(
    'has no account named "%s"',
    async (accountId) => {
      await expect(added({ accountId })).rejects.toThrow(/check constraint/);
    },
  );

  it('that exists is left as it is', async () => {
    const one = await added({ grants: ['payment'] });
    await addPrincipals(register.pool, [{ ...one, secret: 'another', owner: 'thief' }]);
    expect(await find(one.secret)).toMatchObject({ owner: 'team-c' });
    expect(await find('another')).toBeUndefined();
  });
});

describe('an installation', () => {
  it('knows whether it has principals, and in which accounts agents act', async () => {
    expect(await hasNoPrincipals(register.pool)).toBe(false);
    await added({ accountId: 'acct_people', roles: ['approver'] });
    const accounts = await accountsInUse(register.pool);
    expect(accounts).toContain('acct_a');
    expect(accounts).not.toContain('acct_people');
  });

  it('has an id of its own that stays', async () => {
    const id = await installationId(register.pool);
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(await installationId(register.pool)).toBe(id);
    await expect(register.pool.query('insert into installation default values')).rejects.toThrow();
  });
});

// What may be said of an identity provider, and which sentence stops a process that is told half of it.
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { identityOf, type ClaimMapping } from '../../src/domain/claim-mapping.ts';

const WHOLE = {
  OIDC_ISSUER: 'https://idp.test/realms/agents',
  OIDC_AUDIENCE: 'holdfast',
  OIDC_ROLE_MAP: '{"holdfast approvers":"approver"}',
};

describe('the settings of an identity provider', () => {
  it('are none where none is configured', () => {
    expect(readConfig({}).oidc).toBeUndefined();
  });

  it('have defaults but for what can only be known', () => {
    expect(readConfig(WHOLE).oidc).toEqual({
      issuer: 'https://idp.test/realms/agents',
      audience: 'holdfast',
      jwksUri: undefined,
      clockToleranceS: 30,
      maxTokenAgeS: undefined,
      claims: {
        subject: 'sub',
        owner: 'sub',
        roles: 'roles',
        roleMap: { 'holdfast approvers': 'approver' },
        account: { claim: 'holdfast_account' },
      },
    });
  });

  it('may name one account for all', () => {
    const { oidc } = readConfig({ ...WHOLE, OIDC_ACCOUNT: 'acct_a' });
    expect(oidc?.claims.account).toEqual({ fixed: 'acct_a' });
  });

  it.each([
    ['OIDC_ISSUER', 'http://idp.test'],
    ['OIDC_ISSUER', 'idp.test'],
    ['OIDC_JWKS_URI', 'http://127.0.0.1.evil.test/jwks'],
    ['OIDC_JWKS_URI', 'ftp://idp.test/jwks'],
    ['OIDC_AUDIENCE', ''],
    ['OIDC_ROLE_MAP', 'approver'],
    ['OIDC_ROLE_MAP', '["approver"]'],
    ['OIDC_ROLE_MAP', '{"a":"root"}'],
    ['OIDC_ACCOUNT', 'Acct'],
    ['OIDC_CLOCK_TOLERANCE_S', '301'],
    ['OIDC_MAX_TOKEN_AGE_S', '0'],
  ])('refuse %s=%s, by its name', (name, value) => {
    expect(() => readConfig({ ...WHOLE, [name]: value })).toThrow(
      new RegExp(`^configuration: ${name}`),
    );
  });

  it.each(['OIDC_AUDIENCE', 'OIDC_ROLE_MAP'])('need %s', (name) => {
    expect(() => readConfig({ ...WHOLE, [name]: undefined })).toThrow(
      `configuration: ${name}: must`,
    );
  });

  it.each(['OIDC_AUDIENCE', 'OIDC_ROLE_MAP'] as const)('refuse %s without an issuer', (name) => {
    expect(() => readConfig({ [name]: WHOLE[name] })).toThrow(`${name}: needs OIDC_ISSUER`);
  });

  it('take http on loopback, for trying', () => {
    for (const OIDC_ISSUER of ['http://127.0.0.1:3000', 'http://localhost', 'http://[::1]:1/x']) {
      expect(readConfig({ ...WHOLE, OIDC_ISSUER }).oidc?.issuer).toBe(OIDC_ISSUER);
    }
  });
});

describe('development credentials', () => {
  it('are for the embedded default only, unless they are asked for', () => {
    const external = { DATABASE_URL: 'postgres://x/y' };
    expect(readConfig({}).firstCredentials).toBe(true);
    expect(readConfig(external).firstCredentials).toBe(false);
    expect(readConfig({ ...external, HOLDFAST_FIRST_CREDENTIALS: '1' }).firstCredentials).toBe(
      true,
    );
    expect(readConfig({ HOLDFAST_FIRST_CREDENTIALS: '0' }).firstCredentials).toBe(false);
  });
});

describe('a claim', () => {
  const mapping: ClaimMapping = {
    subject: 'sub',
    owner: 'https://x.test/owner',
    roles: 'realm_access.roles',
    roleMap: { ops: 'operator', aud: 'auditor' },
    account: { fixed: 'acct_a' },
  };
  const map = (claims: object) => identityOf('https://i.test', { sub: 's', ...claims }, mapping);

  it('is found by its whole name, else by a path, in own members only', () => {
    const claims = { 'https://x.test/owner': 'team', realm_access: { roles: ['ops'] } };
    expect(map(claims)).toMatchObject({
      ok: true,
      identity: { owner: 'team', roles: ['operator'] },
    });
    const whole = { ...claims, 'realm_access.roles': 'aud ops other' };
    expect(map(whole)).toMatchObject({ identity: { roles: ['auditor', 'operator'] } });
    expect(map({ ...claims, realm_access: Object.create({ roles: ['ops'] }) })).toMatchObject({
      ok: false,
    });
  });

  it('makes different ids of different issuers, accounts and subjects', () => {
    const claims = { 'https://x.test/owner': 'team', realm_access: { roles: ['ops'] } };
    const idOf = (issuer: string, fixed: string, sub: string) => {
      const mapped = identityOf(issuer, { ...claims, sub }, { ...mapping, account: { fixed } });
      return mapped.ok && mapped.identity.principalId;
    };
    const ids = ['i', 'j'].flatMap((i) =>
      ['a', 'b'].flatMap((account) => ['s', 't'].map((sub) => idOf(i, account, sub))),
    );
    expect(new Set(ids).size).toBe(8);
    expect(idOf('i', 'a', 's')).toBe(idOf('i', 'a', 's'));
  });
});

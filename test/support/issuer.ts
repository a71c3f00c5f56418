// An identity provider made by hand, for tokens that a real one would never sign.
import { once } from 'node:events';
import { createServer } from 'node:http';
import {
  exportJWK,
  generateKeyPair,
  SignJWT,
  type CryptoKey,
  type JWK,
  type JWTHeaderParameters,
} from 'jose';
import { pino } from 'pino';
import type { Connection } from '../../src/domain/connection.ts';
import { tokenCallers, type FindTokenCaller } from '../../src/api/token-callers.ts';
import type { OidcSettings } from '../../src/identity/oidc-settings.ts';
import { tokenVerifier } from '../../src/identity/verify-token.ts';
import { KINDS } from '../../src/operations/registry.ts';
import type { Logger } from '../../src/observability/logger.ts';
import type { Register } from './register.ts';

export const AUDIENCE = 'https://holdfast.test';

interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

export async function newSigningKey(kid: string, alg = 'RS256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

export type Issuer = Awaited<ReturnType<typeof startIssuer>>;

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Serves discovery and keys on a loopback port; what it serves can be changed while it runs. */
export async function startIssuer() {
  const served = {
    keys: [await newSigningKey('k1')],
    asked: 0,
    down: undefined as Answer | undefined,
  };
  const server = createServer((request, response) => {
    if (served.down) {
      response.writeHead(served.down.status).end(served.down.body);
      return;
    }
    if (request.url === '/jwks') {
      served.asked += 1;
      response.end(JSON.stringify({ keys: served.keys.map(({ jwk }) => jwk) }));
    } else if (request.url === '/.well-known/openid-configuration') {
      response.end(JSON.stringify({ issuer: url, jwks_uri: `${url}/jwks` }));
    } else response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  return {
    url,
    served,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

export interface TokenWishes {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Partial<JWTHeaderParameters>;
  readonly key?: SigningKey;
}

export const now = (): number => Math.floor(Date.now() / 1_000);

/** A good token of Ada, an operator of acct_a; a claim that is undefined is left out. */
export async function tokenOf(issuer: Issuer, wishes: TokenWishes = {}): Promise<string> {
  const key = wishes.key ?? issuer.served.keys[0];
  if (!key) throw new Error('the issuer has no key');
  const claims = {
    iss: issuer.url,
    aud: AUDIENCE,
    sub: 'ada',
    holdfast_account: 'acct_a',
    roles: ['operators'],
    iat: now(),
    exp: now() + 300,
    ...wishes.claims,
  };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: key.alg, kid: key.kid, ...wishes.header })
    .sign(key.privateKey);
}

export function settingsOf(issuer: string, members: Partial<OidcSettings> = {}): OidcSettings {
  return {
    issuer,
    audience: AUDIENCE,
    jwksUri: undefined,
    clockToleranceS: 30,
    maxTokenAgeS: undefined,
    claims: {
      subject: 'sub',
      owner: 'sub',
      roles: 'roles',
      account: { claim: 'holdfast_account' },
      roleMap: {
        agents: 'agent',
        approvers: 'approver',
        operators: 'operator',
        auditors: 'auditor',
        admins: 'admin',
      },
    },
    ...members,
  };
}

/** How an API with these settings finds callers; unknown keys are asked for again at once. */
export function callersOf(
  register: Register,
  settings: OidcSettings,
  {
    accounts = ['acct_a', 'acct_b'],
    logger = pino({ level: 'silent' }),
  }: { readonly accounts?: readonly string[]; readonly logger?: Logger } = {},
): FindTokenCaller {
  const connections = accounts.map((account) => connectionOf(account));
  const verify = tokenVerifier(settings, { unknownKeyMs: 0, failureMs: 0 });
  return tokenCallers(settings, verify, { pool: register.pool, logger, connections });
}

function connectionOf(account: string): Connection {
  const nowhere = { from: 'literal', value: '-' } as const;
  return {
    name: `to_${account}`,
    adapter: 'sandbox',
    baseUrl: 'http://127.0.0.1:1',
    webhookSecret: nowhere,
    accounts: [account],
    kinds: KINDS,
  };
}

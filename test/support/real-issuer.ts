// A real identity provider (oidc-provider, an OpenID-certified server) in this process: clients ask it for JWT access tokens by the
// client credentials grant (RFC 6749 §4.4) with a resource indicator (RFC 8707).
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { Provider } from 'oidc-provider';
import { request } from 'undici';
import { AUDIENCE } from './issuer.ts';

export interface RealClient {
  readonly id: string;
  /** Claims that the provider adds to its tokens. */
  readonly claims: Readonly<Record<string, unknown>>;
}

export type RealIssuer = Awaited<ReturnType<typeof startRealIssuer>>;

const SECRET = randomUUID();

/** Another audience that the provider knows, for tokens that are not meant for us. */
export const OTHER_AUDIENCE = 'https://other.test';

export async function startRealIssuer(clients: readonly RealClient[]) {
  let handle: RequestListener = (_, response) => void response.writeHead(503).end();
  const server = createServer((incoming, outgoing) => handle(incoming, outgoing));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  /** The provider with a new key, as after a rotation. */
  const renewKeys = async () => {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true });
    const jwk = { ...(await exportJWK(privateKey)), kid: randomUUID(), use: 'sig', alg: 'RS256' };
    handle = new Provider(url, configuration(clients, jwk)).callback();
  };
  await renewKeys();
  return {
    url,
    renewKeys,
    token: (client: string, resource = AUDIENCE) => tokenFrom(url, client, resource),
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function configuration(clients: readonly RealClient[], jwk: JWK): object {
  return {
    clients: clients.map(({ id }) => ({
      client_id: id,
      client_secret: SECRET,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    })),
    jwks: { keys: [jwk] },
    cookies: { keys: [randomUUID()] },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_: unknown, audience: string) => ({
          scope: '',
          audience,
          accessTokenTTL: 300,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    extraTokenClaims: (_: unknown, { clientId }: { readonly clientId: string }) =>
      clients.find(({ id }) => id === clientId)?.claims,
  };
}

async function tokenFrom(url: string, client: string, resource: string): Promise<string> {
  const answer = await request(`${url}/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${client}:${SECRET}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource }).toString(),
  });
  const body = (await answer.body.json()) as Record<string, unknown>;
  if (typeof body['access_token'] !== 'string') throw new Error(JSON.stringify(body));
  return body['access_token'];
}

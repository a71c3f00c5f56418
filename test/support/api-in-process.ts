// The API in this process, on a register of its own and without an engine: for what it answers by itself.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Agent, request } from 'undici';
import { ensureSigningKeys } from '../../src/bootstrap/signing-keys.ts';
import { startApi } from '../../src/api/start-api.ts';
import { apiConfigOf, readConfig } from '../../src/config.ts';
import { freePort } from '../../src/supervisor/probes.ts';
import { secretOf, type Register } from './register.ts';

export interface Submit {
  readonly key: string;
  readonly principal?: string;
  readonly secret?: string;
  readonly contentType?: string;
  readonly wait?: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: { readonly code?: string; readonly operation_id?: string; status?: unknown };
}

/** Nothing listens where its engine should be, so a claim stays PENDING. */
export async function apiInProcess({ url }: Register, env: Readonly<Record<string, string>> = {}) {
  const port = await freePort();
  const home = mkdtempSync(join(tmpdir(), 'holdfast-api-'));
  const config = readConfig({
    DATABASE_URL: url,
    HOLDFAST_HOME: home,
    PORT: String(port),
    TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}`,
    ...env,
  });
  ensureSigningKeys(config.keys);
  const api = await startApi(apiConfigOf(config), pino({ level: 'silent' }));
  const base = `http://127.0.0.1:${port}`;
  const dispatcher = new Agent({ headersTimeout: 120_000, connect: { timeout: 60_000 } });
  const ask = async (method: 'GET' | 'POST', path: string, rest: object): Promise<Answer> => {
    const answer = await request(`${base}${path}`, { dispatcher, method, ...rest });
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: (await answer.body.json()) as Answer['body'],
    };
  };
  return {
    port,
    /** A payment; each key has its own invoice. */
    submit: ({ key, principal = 'acct_a.agent', secret, contentType, wait }: Submit) =>
      ask('POST', '/agent/operations/payment', {
        headers: {
          authorization: `Bearer ${secret ?? secretOf(principal)}`,
          'idempotency-key': key,
          'content-type': contentType ?? 'application/json',
          ...(wait === undefined ? {} : { prefer: `wait=${wait}` }),
        },
        body: JSON.stringify({
          amount: '10.00',
          currency: 'USD',
          customer_id: 'cus_1',
          invoice_id: `inv-${key}`,
        }),
      }),
    read: (operationId: string, principal = 'acct_a.agent') =>
      ask('GET', `/agent/operations/${operationId}`, {
        headers: { authorization: `Bearer ${secretOf(principal)}` },
      }),
    ready: () => ask('GET', '/readyz', {}),
    stopApi: () => api.stop(),
    async stop(): Promise<void> {
      await dispatcher.close();
      await api.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export type ApiInProcess = Awaited<ReturnType<typeof apiInProcess>>;

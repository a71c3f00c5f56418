// A client of the sandbox provider over real sockets, with the client's own deadline where a test needs one.
import { request } from 'undici';
import { afterEach } from 'vitest';
import { z } from 'zod';
import { startSandbox, type RunningSandbox, type SandboxOptions } from '../../src/sandbox/app.ts';

const Entries = z.array(z.looseObject({}));
const Body = z.looseObject({
  id: z.string().optional(),
  /** What was there before has no token. */
  data: z.array(z.looseObject({ id: z.string(), token: z.string().optional() })).default([]),
  deliveries: z.array(z.object({ event_id: z.string(), status: z.number() })).default([]),
  effects: Entries.optional(),
  calls: Entries.optional(),
  error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
});

export const PAYMENT = {
  amount: '1000',
  currency: 'USD',
  customer: 'cus_1',
  invoice: 'inv-1',
  capture: 'automatic',
};

const running: RunningSandbox[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()));
});

export interface WriteOptions {
  readonly token?: string;
  readonly body?: unknown;
  readonly kind?: string;
  readonly credential?: string;
  readonly operationId?: string;
  readonly deadlineMs?: number;
}

/** A started provider and what a test does with it; stopped after the test. */
export async function sandbox(
  options: SandboxOptions & { readonly port?: number; readonly adminPort?: number } = {},
) {
  const one = await startSandbox({ port: 0, adminPort: 0, holdMs: 300, hangMs: 80, ...options });
  running.push(one);
  const admin = async (path: string, body: unknown) => {
    const answer = await request(`${one.adminUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, text, ...parsed(text) };
  };
  const list = async (name: 'effects' | 'calls') => {
    const answer = await request(`${one.adminUrl}/admin/${name}`);
    return Body.parse(await answer.body.json())[name] ?? [];
  };
  return {
    ...one,
    admin,
    effects: () => list('effects'),
    calls: () => list('calls'),
    script: (...modes: unknown[]) => admin('/admin/script', { kind: 'payment', modes }),
    write: (wanted: WriteOptions = {}) => write(one.url, wanted),
    lookup: (query: Record<string, string>, credential?: string, kind?: string) =>
      lookup(one.url, query, credential, kind),
  };
}

export async function write(url: string, options: WriteOptions) {
  const {
    kind = 'payment',
    credential = 'acct',
    token = 't-1',
    operationId,
    body = PAYMENT,
  } = options;
  const answer = await request(`${url}/v1/${kind}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${credential}`,
      'idempotency-token': token,
      'content-type': 'application/json',
      ...(operationId === undefined ? {} : { 'operation-id': operationId }),
    },
    body: JSON.stringify(body),
    ...(options.deadlineMs === undefined
      ? {}
      : { signal: AbortSignal.timeout(options.deadlineMs) }),
  });
  const text = await answer.body.text();
  return { status: answer.statusCode, headers: answer.headers, text, ...parsed(text) };
}

async function lookup(
  url: string,
  query: Record<string, string>,
  credential = 'acct',
  kind = 'payment',
) {
  const answer = await request(`${url}/v1/${kind}`, {
    query,
    headers: { authorization: `Bearer ${credential}` },
  });
  return { status: answer.statusCode, ...parsed(await answer.body.text()) };
}

/** The body where it is one, with what tests look for taken out: `code` of a refusal, `id`, `data` of a lookup. */
function parsed(text: string) {
  const json: unknown = text.startsWith('{') ? JSON.parse(text) : {};
  const { data, deliveries, error, id = '' } = Body.parse(json);
  return { body: json, data, deliveries, error, id, code: error?.code };
}

/** The code of the error that a call ends with; undefined where it got an answer. */
export async function errorCodeOf(call: Promise<unknown>): Promise<string | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  }
}

// The API's app on a port of its own, over a real register; only the engine behind it is faked.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { pino } from 'pino';
import { request } from 'undici';
import { createApp } from '../../src/api/app.ts';
import type { ApiDependencies } from '../../src/api/dependencies.ts';
import type { RateLimits } from '../../src/api/rate-limits.ts';
import { RestWatcher } from '../../src/api/rest-watcher.ts';
import { createStartSoon } from '../../src/api/start-soon.ts';
import { apiConfigOf, readConfig } from '../../src/config.ts';
import type { Policy } from '../../src/domain/policy.ts';
import type { Logger } from '../../src/observability/logger.ts';
import { createApiMetrics, type ApiMetrics } from '../../src/observability/metrics.ts';
import { NO_TRACING } from '../../src/observability/tracing.ts';
import { adapters } from '../../src/providers/index.ts';
import { readStates } from '../../src/store/operations.store.ts';
import type { Pool } from '../../src/store/pool.ts';
import { storeAttemptOutcome } from '../../src/store/attempts.store.ts';
import type { WriteOutcome } from '../../src/domain/outcome.ts';
import { DESK } from './desk.ts';
import { fakeStarter, type FakeStarter } from './fake-starter.ts';
import { OUTCOMES } from './operation-file.ts';
import { SHIPPED_POLICY } from './policy.ts';
import { begin, secretOf, type Register } from './register.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body where it is a JSON object, else an empty one. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface CallOptions {
  /** Principal id; null sends no credential. */
  readonly as?: string | null;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Text and bytes go as they are, anything else as JSON. */
  readonly body?: unknown;
}

export interface TestApi {
  readonly url: string;
  readonly starter: FakeStarter;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Submits a payment as `acct_a.agent` unless told otherwise. */
  submit(key: string, body: unknown, options?: CallOptions): Promise<Answer>;
  stop(): Promise<void>;
}

const config = apiConfigOf(readConfig({}));

interface Observers {
  readonly metrics: ApiMetrics;
  readonly logger: Logger;
}

type Identity = Pick<ApiDependencies, 'tokenCaller' | 'issuer'>;
const UNLIMITED: RateLimits = { count: async () => {} };
const NO_ISSUER: Identity = { tokenCaller: undefined, issuer: null };

interface Parts {
  readonly pool: Pool;
  readonly starter: FakeStarter;
  readonly policy: () => Policy;
  readonly policyIsFresh: () => boolean;
  readonly identity: Identity;
  readonly rateLimits: RateLimits;
}

function dependencies(
  register: Register,
  pool: Pool,
  starter: FakeStarter,
  { metrics, logger }: Observers,
  { policy, policyIsFresh }: Pick<Parts, 'policy' | 'policyIsFresh'>,
): ApiDependencies {
  return {
    pool,
    connections: config.connections,
    cardOf: (name) => {
      const adapter = adapters.find((one) => one.name === name);
      if (!adapter) throw new Error(name);
      return adapter.card;
    },
    plan: config,
    policy,
    policyIsFresh,
    installationId: randomUUID(),
    desk: DESK.signer,
    deskKeys: DESK.verifier,
    startSoon: createStartSoon(register.pool, starter, logger),
    replays: { note: () => {} },
    rateLimits: UNLIMITED,
    ...NO_ISSUER,
    watcher: new RestWatcher((ids) => readStates(pool, ids)),
    engineAnswers: async () => true,
    eventReceiver: () => undefined,
    newId: (prefix) => `${prefix}_${randomUUID()}`,
    metrics,
    tracing: NO_TRACING,
    logger,
  };
}

/** `pool` and `starter` may be others than the register's, to break what is behind the API. */
export async function startTestApi(
  register: Register,
  {
    pool = register.pool,
    starter = fakeStarter(),
    metrics = createApiMetrics(),
    logger = pino({ level: 'silent' }),
    policy = () => SHIPPED_POLICY,
    policyIsFresh = () => true,
    identity = NO_ISSUER,
    rateLimits = UNLIMITED,
  }: Partial<Observers & Parts> = {},
): Promise<TestApi> {
  const rules = { policy, policyIsFresh };
  const observed = dependencies(register, pool, starter, { metrics, logger }, rules);
  const deps = { ...observed, ...identity, rateLimits };
  const server = createServer(createApp(deps));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const url = `http://127.0.0.1:${port}`;

  const call: TestApi['call'] = async (
    method,
    path,
    { as = 'acct_a.agent', headers, body } = {},
  ) => {
    const answer = await request(`${url}${path}`, {
      method: method as 'GET',
      headers: {
        ...(as === null ? {} : { authorization: `Bearer ${secretOf(as)}` }),
        ...headers,
      },
      body: body === undefined ? null : bytesOf(body),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, headers: answer.headers, text, body: objectOf(text) };
  };
  return {
    url,
    starter,
    call,
    submit: (key, body, options = {}) =>
      call('POST', '/agent/operations/payment', {
        ...options,
        body,
        headers: {
          'content-type': 'application/json',
          'idempotency-key': key,
          ...options.headers,
        },
      }),
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      await deps.startSoon.drain();
    },
  };
}

function bytesOf(body: unknown): string | Uint8Array {
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  return JSON.stringify(body);
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** A payment of its own: another invoice each time. */
export function paymentBody(members: object = {}): Record<string, unknown> {
  return {
    amount: '10.00',
    currency: 'USD',
    customer_id: 'cus_1',
    invoice_id: `inv-${randomUUID()}`,
    ...members,
  };
}

export const newKey = (): string => randomUUID();

/** Does what a worker would: sends the operation and stores that answer. */
export async function work(
  register: Register,
  operationId: unknown,
  outcome: WriteOutcome = OUTCOMES.succeeded,
): Promise<void> {
  const id = String(operationId);
  await begin(register, id);
  await storeAttemptOutcome(register.pool, id, 1, outcome);
}

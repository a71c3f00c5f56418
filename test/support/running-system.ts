// The whole system for one test file: real processes on free ports, a database and a task queue of their own, a provider that can be
// broken. Files share one Temporal server, so keys are random: a workflow id is the account and the key.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { request } from 'undici';
import {
  ensureFirstCredentials,
  type CredentialsFile,
} from '../../src/bootstrap/first-credentials.ts';
import { ensureSigningKeys } from '../../src/bootstrap/signing-keys.ts';
import { readConfig } from '../../src/config.ts';
import { reconcileWorkflowIdFor, workflowIdFor } from '../../src/domain/idempotency-key.ts';
import { isSettled, type OperationState } from '../../src/domain/operation-state.ts';
import { KINDS } from '../../src/operations/registry.ts';
import type { SandboxOptions } from '../../src/sandbox/app.ts';
import { createPool, type Pool } from '../../src/store/pool.ts';
import { freePort } from '../../src/supervisor/probes.ts';
import { createTestDatabase, type TestDatabase } from './postgres.ts';
import { startProcess, untilServing, untilUp, type Env, type TestProcess } from './processes.ts';
import { startProvider, type ProviderControl, type Seen } from './provider-control.ts';
import { testTemporal } from './temporal.ts';
import { until } from './until.ts';

/** Short enough for quick fault tests, long enough for an answer on a busy machine. */
export const PROVIDER_DEADLINE_MS = 2_500;

/** When `hang_then_commit` acts: past the deadline, within the 3 s that the sandbox's card allows it. */
const HANG_MS = 3_500;

/** Name of the tests' own database connections. */
export const RIG = 'test_rig';

/** An operation as the API shows it: the members that tests look at. */
export interface OperationView {
  readonly operation_id: string;
  readonly idempotency_key: string;
  readonly fingerprint: string;
  readonly approval: { readonly approval_id: string; readonly status: string } | null;
  readonly status: OperationState;
  readonly command: Readonly<Record<string, unknown>>;
  readonly error: { readonly code: string } | null;
  readonly last_error: { readonly code: string } | null;
  readonly result: Readonly<Record<string, unknown>> | null;
  readonly provider: { readonly token: string; readonly reference: string | null };
  readonly attempts: readonly {
    readonly number: number;
    readonly outcome: string | null;
    readonly worker: string;
  }[];
  /** Of a problem document. */
  readonly code?: string;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly body: OperationView;
}

/** Members that differ from the usual payment. */
export interface PaymentMembers {
  readonly amount?: string;
  readonly currency?: string;
  readonly customer_id?: string;
  readonly invoice_id?: string;
}

export interface SubmitOptions extends PaymentMembers {
  readonly key?: string;
  readonly account?: string;
  readonly agent?: string;
  /** Seconds to be held. */
  readonly wait?: number;
  /** Base URL of another API than the first one. */
  readonly api?: string;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ReadOptions {
  readonly account?: string;
  readonly wait?: number;
  readonly api?: string;
}

interface DecideOptions {
  readonly account?: string;
  readonly person?: string;
  readonly api?: string;
}

interface CallOptions {
  readonly person?: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RunningApi extends TestProcess {
  readonly url: string;
}

export interface SystemOptions {
  /** For every process. */
  readonly env?: Env;
  readonly sandbox?: SandboxOptions;
  /** Started at once; the others by `startApi` and `startWorker`. Default 1. */
  readonly apis?: number;
  readonly workers?: number;
  /** A migrated database, if not one in the run's shared cluster. */
  readonly database?: TestDatabase;
  /** Where the engine is, if not the run's shared server. */
  readonly temporal?: { readonly address: string; readonly namespace: string };
}

export type RunningSystem = Awaited<ReturnType<typeof startSystem>>;

/** A fresh key that no other test has. */
export const freshKey = (): string => randomUUID();

export async function startSystem({
  env = {},
  sandbox = {},
  apis = 1,
  workers = 1,
  temporal: engine,
  database: ownDatabase,
}: SystemOptions = {}) {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-system-'));
  const database = ownDatabase ?? (await createTestDatabase());
  // Named apart, so that a test can cut the connections of the processes and keep its own.
  const ownUrl = `${database.url}?application_name=${RIG}`;
  const pool = createPool(ownUrl, { max: 5, onIdleError: () => {} });
  await ensureFirstCredentials(pool, home, KINDS);
  const provider = await startProvider({ hangMs: HANG_MS, ...sandbox });
  const temporal = { ...testTemporal(), ...engine };
  const engineClient = new Client({
    connection: Connection.lazy({ address: temporal.address }),
    namespace: temporal.namespace,
  });
  const shared: Env = {
    DATABASE_URL: database.url,
    HOLDFAST_HOME: home,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    TEMPORAL_TASK_QUEUE: temporal.taskQueue,
    SANDBOX_PORT: String(provider.port),
    SANDBOX_ADMIN_PORT: String(provider.adminPort),
    PROVIDER_DEADLINE_MS: String(PROVIDER_DEADLINE_MS),
    RECONCILE_FIRST_LOOK_MS: '300',
    SWEEP_INTERVAL_MS: '1000',
    RELAY_INTERVAL_MS: '200',
    ...env,
  };
  ensureSigningKeys(readConfig(shared).keys);
  const processes: { readonly name: string; readonly one: TestProcess }[] = [];
  const start = async (name: string, more: Env): Promise<TestProcess> => {
    const own = { METRICS_PORT: String(await freePort()), ...more };
    const one = startProcess(name, { ...shared, ...own }, home);
    processes.push({ name, one });
    return one;
  };
  const startApi = async (more: Env = {}): Promise<RunningApi> => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const one = await start('api', { PORT: String(port), ...more });
    await untilServing(one, `${url}/healthz`);
    return { ...one, url };
  };
  const startWorker = async (more: Env = {}): Promise<TestProcess> => {
    const one = await start('worker', more);
    await untilUp(one);
    return one;
  };
  const [startedApis, startedWorkers] = await Promise.all([
    several(apis, () => startApi()),
    several(workers, () => startWorker()),
  ]);
  const { accounts } = JSON.parse(
    readFileSync(join(home, 'credentials.json'), 'utf8'),
  ) as CredentialsFile;
  const client = createClient(startedApis[0]?.url ?? '', accounts);
  return {
    ...client,
    env: shared,
    home,
    pool,
    databaseUrl: database.url,
    provider,
    temporal,
    engine: engineClient,
    apis: startedApis,
    workers: startedWorkers,
    startApi,
    startWorker,
    /** Every process of this name that was ever started. */
    started: (name = 'worker') =>
      processes.filter((one) => one.name === name).map(({ one }) => one),
    ...observe(pool, client, provider),
    ...engineOf(engineClient),
    async stop(): Promise<void> {
      const running = processes.map(({ one }) => one).filter((one) => one.isRunning());
      await Promise.all(running.map((one) => one.kill()));
      await provider.stop();
      await engineClient.connection.close();
      await pool.end();
      await database.drop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Begins several at once. */
const several = <T>(many: number, begin: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: many }, begin));

type Accounts = CredentialsFile['accounts'];

/** Submits and reads, as an agent does. */
function createClient(firstApi: string, accounts: Accounts) {
  const headersFor = (account = 'acct_a', person = 'agent', wait?: number) => ({
    authorization: `Bearer ${accounts[account]?.[person]?.token}`,
    ...(wait === undefined ? {} : { prefer: `wait=${wait}` }),
  });
  return {
    async submit({ key = freshKey(), ...rest }: SubmitOptions = {}): Promise<ApiAnswer> {
      const { account, agent, wait, api = firstApi, signal, headers = {}, ...members } = rest;
      const invoice_id = `inv-${key}`;
      const body = { amount: '10.00', currency: 'USD', customer_id: 'cus_1', invoice_id };
      return answerOf(
        await request(`${api}/agent/operations/payment`, {
          method: 'POST',
          headers: {
            ...headersFor(account, agent, wait),
            'idempotency-key': key,
            'content-type': 'application/json',
            ...headers,
          },
          body: JSON.stringify({ ...body, ...members }),
          reset: true,
          headersTimeout: 60_000,
          ...(signal ? { signal } : {}),
        }),
      );
    },
    /** Decides about a held operation as its submitter was answered. */
    async decide(
      held: OperationView,
      action: 'approve' | 'reject' = 'approve',
      { account, person = 'approver', api = firstApi }: DecideOptions = {},
    ): Promise<ApiAnswer> {
      return answerOf(
        await request(`${api}/approvals/${held.approval?.approval_id}/${action}`, {
          method: 'POST',
          headers: { ...headersFor(account, person), 'content-type': 'application/json' },
          body: JSON.stringify({ fingerprint: held.fingerprint, comment: 'a test' }),
          reset: true,
        }),
      );
    },
    /** Any other call to the API by a person of account `acct_a`. */
    async call(
      method: 'GET' | 'POST',
      path: string,
      { person = 'operator', body, headers = {} }: CallOptions = {},
    ): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }> {
      const type = body && { 'content-type': 'application/json' };
      const answer = await request(`${firstApi}${path}`, {
        method,
        headers: { ...headersFor('acct_a', person), ...type, ...headers },
        body: body ? JSON.stringify(body) : null,
        reset: true,
        headersTimeout: 60_000,
      });
      const json = (await answer.body.json()) as Record<string, unknown>;
      return { status: answer.statusCode, body: json };
    },
    /** As the operator of the account. */
    async read(operationId: string, options: ReadOptions = {}): Promise<ApiAnswer> {
      const { account, wait, api = firstApi } = options;
      const url = `${api}/agent/operations/${operationId}`;
      return answerOf(
        await request(url, { headers: headersFor(account, 'operator', wait), reset: true }),
      );
    },
  };
}

async function answerOf(answer: Awaited<ReturnType<typeof request>>): Promise<ApiAnswer> {
  const text = await answer.body.text();
  return {
    status: answer.statusCode,
    headers: answer.headers,
    text,
    body: JSON.parse(text) as OperationView,
  };
}

const RESTS = (state: OperationState): boolean => isSettled(state) || state === 'NEEDS_REVIEW';

/** What became of operations: from the register, and from the provider. */
function observe(pool: Pool, client: ReturnType<typeof createClient>, provider: ProviderControl) {
  const statusOf = async (operationId: string): Promise<OperationState | undefined> => {
    const { rows } = await pool.query<{ status: OperationState }>(
      'select status from operations where operation_id = $1',
      [operationId],
    );
    return rows[0]?.status;
  };
  return {
    statusOf,
    untilStatus: (operationId: string, ...states: OperationState[]): Promise<OperationState> =>
      until(`${operationId} is ${states.join(' or ')}`, async () => {
        const status = await statusOf(operationId);
        return status !== undefined && states.includes(status) && status;
      }),
    /** The operation once nothing more happens to it, or not without a person. */
    async atRest(operationId: string, patienceMs = 80_000): Promise<OperationView> {
      await until(
        `${operationId} rests`,
        async () => {
          const status = await statusOf(operationId);
          return status !== undefined && RESTS(status);
        },
        patienceMs,
      );
      return (await client.read(operationId)).body;
    },
    /** Every state that the operation was in, in order, from the audit. */
    async statesOf(operationId: string): Promise<OperationState[]> {
      const { rows } = await pool.query<{ to_state: OperationState }>(
        `select to_state from audit_events where operation_id = $1
         and type in ('claimed', 'transition') order by event_id`,
        [operationId],
      );
      return rows.map((row) => row.to_state);
    },
    /** Waits until the provider has received the writes, also those that it has not answered. */
    untilWritten: (operationId: string, writes = 1): Promise<Seen> =>
      until(`the provider has received ${writes} writes of ${operationId}`, async () => {
        const seen = await provider.sawOf(operationId);
        return seen.writes >= writes && seen;
      }),
    untilLookedUp: (operationId: string, lookups = 1): Promise<Seen> =>
      until(`the provider was asked ${lookups} times about ${operationId}`, async () => {
        const seen = await provider.sawOf(operationId);
        return seen.lookups >= lookups && seen;
      }),
    /** Lets recovery look at the operation now and not half a minute after its claim. */
    async sweepNow(operationId: string): Promise<void> {
      await pool.query(
        'update operations set next_sweep_at = holdfast_now() where operation_id = $1',
        [operationId],
      );
    },
    /**
     * Plans of this customer's payments, or of what acts on this operation, get these members at the claim: they are data, so a test may
     * freeze smaller numbers.
     */
    async planFor(subject: string, members: Readonly<Record<string, unknown>>): Promise<void> {
      await pool.query(PLAN_TRIGGER);
      await pool.query('insert into test_plans values ($1, $2)', [subject, members]);
    },
    /** Operations that nobody has settled and no person was asked about. */
    async openOperations(): Promise<string[]> {
      const { rows } = await pool.query<{ operation_id: string }>(
        `select operation_id from operations
         where response_body is null and status <> 'NEEDS_REVIEW'`,
      );
      return rows.map((row) => row.operation_id);
    },
  };
}

/** Under a lock: two tests at once must not both find the table missing. */
const PLAN_TRIGGER = `
  select pg_advisory_xact_lock(hashtext('test_plans'));
  create table if not exists test_plans (subject text primary key, members jsonb not null);
  create or replace function test_plan() returns trigger language plpgsql as $$
    declare wanted jsonb;
    begin
      select members into wanted from test_plans
      where subject in (new.command ->> 'customer_id', new.command ->> 'payment_operation_id');
      if found then
        new.plan := new.plan || (wanted - 'reconcile') || jsonb_build_object('reconcile',
          (new.plan -> 'reconcile') || coalesce(wanted -> 'reconcile', '{}'));
      end if;
      return new;
    end $$;
  create or replace trigger test_plan before insert on operations
    for each row execute function test_plan()`;

/** The engine's side of an operation. */
function engineOf(client: Client) {
  return {
    runOf: (key: string) => client.workflow.getHandle(workflowIdFor('acct_a', key)),
    reconciliationOf: (operationId: string) =>
      client.workflow.getHandle(reconcileWorkflowIdFor('acct_a', operationId)),
    /** Waits until a run is no longer open and answers how it ended. */
    untilClosed: (workflowId: string): Promise<string> =>
      until(`${workflowId} has ended`, async () => {
        const { status } = await client.workflow.getHandle(workflowId).describe();
        return status.name !== 'RUNNING' && status.name;
      }),
  };
}

// The only reader of process.env. Everything is parsed once, at the start of a process, and passed down as data.
// A value that can't be used stops the process with a sentence that names the variable.
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import {
  withoutCredential,
  type BareConnection,
  type CredentialedConnection,
} from './domain/connection.ts';
import { oidcSettings, oidcVariables, type OidcSettings } from './identity/oidc-settings.ts';
import type { KeyPlaces } from './signing/keys.ts';

const anyPort = z.coerce.number().int().min(1).max(65_535);
const port = (fallback: number) => anyPort.default(fallback);
const milliseconds = (fallback: number) => z.coerce.number().int().min(1).default(fallback);

/** Without a slash at its end, so that paths can be put behind it. */
const optionalUrl = () =>
  z
    .url({ protocol: /^https?$/ })
    .transform((url) => url.replace(/\/+$/, ''))
    .optional();

const perSecond = (fallback: number) => z.coerce.number().int().min(1).default(fallback);

/** Loopback is the only place where development credentials may be served from. */
const LOOPBACK_HOSTS = ['127.0.0.1', '::1', 'localhost'];

/** The policy that is shipped; beside `src` and `dist` alike. */
const SHIPPED_POLICY = fileURLToPath(new URL('../policies/default.yaml', import.meta.url));

/** Ten years: nobody waits longer, and sums of times stay dates. */
const LONGEST_APPROVAL_TTL_MS = 10 * 366 * 24 * 3_600_000;

/** A hundred years: whoever must keep everything says so, and sums of times stay dates. */
const LONGEST_RETENTION_MS = 10 * LONGEST_APPROVAL_TTL_MS;

/** Thirty days: longer than any provider here disputes a call's outcome by itself, short enough to keep no archive of people. */
const RETENTION_MS = 30 * 24 * 3_600_000;

/** With the rig somebody moves the clock and wants to see what becomes due by it. */
const RIGGED_SWEEP_MS = 1_000;

const Environment = z.object({
  /** API, on loopback unless `HOST` says otherwise (external Postgres only). */
  PORT: port(8080),
  HOST: z.string().default('127.0.0.1'),
  SANDBOX_PORT: port(8090),
  SANDBOX_ADMIN_PORT: port(8091),
  /** Where the sandbox listens; in a container of its own that is every address of it. */
  SANDBOX_HOST: z.string().min(1).default('127.0.0.1'),
  /** Where its clients reach it; unset: on this machine. */
  SANDBOX_URL: optionalUrl(),
  /** Where the sandbox reaches the API with its events; unset: on this machine. */
  WEBHOOK_URL: optionalUrl(),
  /** The worker's metrics, and those of the APIs that share its home. */
  METRICS_PORT: port(9464),
  /** Set: this API serves its own metrics here, for a machine or container without a worker. */
  API_METRICS_PORT: anyPort.optional(),
  METRICS_HOST: z.string().min(1).default('127.0.0.1'),
  TEMPORAL_PORT: port(7233),
  TEMPORAL_UI_PORT: port(8233),
  POSTGRES_PORT: port(54_329),
  /** State of the embedded default: database, engine file, credentials, logs. */
  HOLDFAST_HOME: z.string().min(1).default('.holdfast'),
  /** Set: this Postgres is used and none is started. */
  DATABASE_URL: z.string().min(1).optional(),
  /** Set: this Temporal server is used and none is started. */
  TEMPORAL_ADDRESS: z.string().min(1).optional(),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
  TEMPORAL_TASK_QUEUE: z.string().min(1).default('holdfast'),
  /** The approval desk's private key, for APIs; unset: under the home, where the embedded default makes one. */
  DESK_KEY_FILE: z.string().min(1).optional(),
  /** Folder of the desk's public keys, for workers. */
  DESK_PUBLIC_KEYS: z.string().min(1).optional(),
  /** The audit sealer's private key, for workers. */
  AUDIT_KEY_FILE: z.string().min(1).optional(),
  /** Folder of the sealer's public keys, for whoever verifies. */
  AUDIT_PUBLIC_KEYS: z.string().min(1).optional(),
  /** Folder of the signed heads, for workers: where the database's user can't write. */
  AUDIT_HEADS: z.string().min(1).optional(),
  /** How often audit events are put into their chain. Shorter means more heads, longer means more that only the database vouches for. */
  AUDIT_SEAL_INTERVAL_MS: milliseconds(1_000),
  /** How long sealed audit entries stay; unset: for ever, because nobody can ask for what is gone. */
  AUDIT_RETENTION_MS: z.coerce.number().int().min(1).optional(),
  ...oidcVariables,
  /** 1: an empty database gets development credentials; unset: only that of the embedded default does. */
  HOLDFAST_FIRST_CREDENTIALS: z.enum(['0', '1']).optional(),
  /** Set: spans go to this OTLP/HTTP collector. Its other OTEL_ variables are the SDK's own. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .literal('')
    .transform(() => undefined)
    .or(optionalUrl()),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  /** The policy file, for APIs and workers; unset: the one that is shipped. */
  POLICY_FILE: z.string().min(1).optional(),
  /** How long a held operation waits for a person: a working day somewhere is never missed. */
  APPROVAL_TTL_MS: milliseconds(24 * 3_600_000).pipe(z.number().max(LONGEST_APPROVAL_TTL_MS)),
  /** Longest a provider may take to answer one write; the sandbox's is 5 s so that fault tests are quick. */
  PROVIDER_DEADLINE_MS: milliseconds(5_000),
  /** First look after a lost answer; doubles from there (contract §6.7). */
  RECONCILE_FIRST_LOOK_MS: milliseconds(1_000),
  /** After this a person decides, with the evidence (contract §6.7). */
  RECONCILE_DEADLINE_MS: milliseconds(72 * 3_600_000),
  /** A principal's submits each second, at each API: far above what an agent that means it sends, far below what would hurt others. */
  RATE_LIMIT_SUBMITS_PER_S: perSecond(50),
  /** Its reads each second: four polls for each submit. */
  RATE_LIMIT_READS_PER_S: perSecond(200),
  /** How often unsettled rows are compared with the engine (contract §7). */
  SWEEP_INTERVAL_MS: milliseconds(30_000),
  /** How long after its settling an operation keeps what is personal. */
  RETENTION_MS: milliseconds(RETENTION_MS).pipe(z.number().max(LONGEST_RETENTION_MS)),
  /** How often operations past it are looked for: a minute is nothing against days. */
  RETENTION_INTERVAL_MS: milliseconds(60_000),
  /** How often undelivered outbox messages are looked for; the API delivers at once when it can. */
  RELAY_INTERVAL_MS: milliseconds(1_000),
  /** 1: `scripts/rig` may stop, kill and part the processes of the embedded default. For trying faults, never for work. */
  HOLDFAST_RIG: z.enum(['0', '1']).default('0'),
});

/** Everything a process may be told from outside; times in milliseconds, ports on loopback. */
export interface Config {
  readonly host: string;
  readonly ports: {
    readonly api: number;
    readonly sandbox: number;
    readonly sandboxAdmin: number;
    readonly metrics: number;
    /** Undefined: the API's metrics are shown by the worker of its home. */
    readonly apiMetrics: number | undefined;
    readonly temporal: number;
    readonly temporalUi: number;
    readonly postgres: number;
  };
  /** Absolute path. */
  readonly home: string;
  readonly postgres: { readonly url: string; readonly embedded: boolean };
  readonly temporal: {
    readonly address: string;
    readonly namespace: string;
    readonly taskQueue: string;
    readonly embedded: boolean;
  };
  readonly logLevel: string;
  readonly metricsHost: string;
  /** Base URL of an OTLP/HTTP collector; undefined: nothing is traced. */
  readonly tracesEndpoint: string | undefined;
  /** `webhookUrl`: base URL of the API as the sandbox sees it. */
  readonly sandbox: { readonly host: string; readonly webhookUrl: string };
  /** Absolute path. */
  readonly policyFile: string;
  /** Where the policy names no time. */
  readonly approvalTtlMs: number;
  readonly providerDeadlineMs: number;
  readonly reconcile: { readonly firstLookMs: number; readonly deadlineMs: number };
  readonly rateLimits: { readonly submitsPerS: number; readonly readsPerS: number };
  readonly sweepIntervalMs: number;
  readonly relayIntervalMs: number;
  /** What is personal goes `afterMs` after the settling; a round every `everyMs`. */
  readonly retention: { readonly afterMs: number; readonly everyMs: number };
  readonly audit: {
    readonly headsFolder: string;
    readonly sealIntervalMs: number;
    /** Undefined: nothing is ever removed. */
    readonly retentionMs: number | undefined;
  };
  /** True: the rig's channel is served, and crash points are installed. */
  readonly rig: boolean;
  readonly connections: readonly CredentialedConnection[];
  /** Of the approval desk and of the audit's sealer; absolute paths. */
  readonly keys: Readonly<Record<'desk' | 'audit', KeyPlaces>>;
  /** Undefined: only API keys are taken. */
  readonly oidc: OidcSettings | undefined;
  /** Whether an empty database gets development credentials. */
  readonly firstCredentials: boolean;
}

/** What an API is given: it answers clients, and nothing in it can name or resolve a provider's credential. */
export type ApiConfig = Omit<Config, 'connections'> & {
  readonly connections: readonly BareConnection[];
};

export function apiConfigOf(config: Config): ApiConfig {
  return { ...config, connections: config.connections.map(withoutCredential) };
}

/** Reads the environment; throws an `Error` that names the variable which can't be used. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const parsed = Environment.safeParse(env);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      (issue) => `${issue.path.join('.')}: ${issue.message}`,
    );
    throw new Error(`configuration: ${problems.join('; ')}`);
  }
  const e = parsed.data;
  const embedded = e.DATABASE_URL === undefined;
  const rig = e.HOLDFAST_RIG === '1';
  if (embedded) refuseOtherThanLoopback(e);
  else if (rig) {
    throw new Error('configuration: HOLDFAST_RIG: faults are for the embedded default only');
  }
  // An empty host would bind every interface.
  if (e.HOST === '') throw new Error('configuration: HOST: must name an interface');
  const home = resolve(e.HOLDFAST_HOME);
  return {
    host: e.HOST,
    ports: {
      api: e.PORT,
      sandbox: e.SANDBOX_PORT,
      sandboxAdmin: e.SANDBOX_ADMIN_PORT,
      metrics: e.METRICS_PORT,
      apiMetrics: e.API_METRICS_PORT,
      temporal: e.TEMPORAL_PORT,
      temporalUi: e.TEMPORAL_UI_PORT,
      postgres: e.POSTGRES_PORT,
    },
    home,
    postgres: {
      url: e.DATABASE_URL ?? `postgres://holdfast@127.0.0.1:${e.POSTGRES_PORT}/holdfast`,
      embedded,
    },
    temporal: {
      address: e.TEMPORAL_ADDRESS ?? `127.0.0.1:${e.TEMPORAL_PORT}`,
      namespace: e.TEMPORAL_NAMESPACE,
      taskQueue: e.TEMPORAL_TASK_QUEUE,
      embedded: e.TEMPORAL_ADDRESS === undefined,
    },
    logLevel: e.LOG_LEVEL,
    metricsHost: e.METRICS_HOST,
    tracesEndpoint: e.OTEL_EXPORTER_OTLP_ENDPOINT,
    sandbox: { host: e.SANDBOX_HOST, webhookUrl: e.WEBHOOK_URL ?? `http://127.0.0.1:${e.PORT}` },
    policyFile: e.POLICY_FILE === undefined ? SHIPPED_POLICY : resolve(e.POLICY_FILE),
    approvalTtlMs: e.APPROVAL_TTL_MS,
    providerDeadlineMs: e.PROVIDER_DEADLINE_MS,
    reconcile: { firstLookMs: e.RECONCILE_FIRST_LOOK_MS, deadlineMs: e.RECONCILE_DEADLINE_MS },
    rateLimits: {
      submitsPerS: e.RATE_LIMIT_SUBMITS_PER_S,
      readsPerS: e.RATE_LIMIT_READS_PER_S,
    },
    sweepIntervalMs: rig ? Math.min(e.SWEEP_INTERVAL_MS, RIGGED_SWEEP_MS) : e.SWEEP_INTERVAL_MS,
    relayIntervalMs: e.RELAY_INTERVAL_MS,
    retention: {
      afterMs: e.RETENTION_MS,
      // A short retention is somebody trying it; with the rig they move the clock instead.
      everyMs: Math.min(e.RETENTION_INTERVAL_MS, e.RETENTION_MS, rig ? RIGGED_SWEEP_MS : Infinity),
    },
    audit: {
      headsFolder: resolve(e.AUDIT_HEADS ?? join(home, 'audit', 'heads')),
      sealIntervalMs: e.AUDIT_SEAL_INTERVAL_MS,
      retentionMs: e.AUDIT_RETENTION_MS,
    },
    rig,
    keys: keyPlaces(e, home),
    oidc: oidcSettings(e),
    firstCredentials: (e.HOLDFAST_FIRST_CREDENTIALS ?? (embedded ? '1' : '0')) === '1',
    connections: sandboxConnections(e.SANDBOX_URL ?? `http://127.0.0.1:${e.SANDBOX_PORT}`),
  };
}

function keyPlaces(e: z.infer<typeof Environment>, home: string): Config['keys'] {
  const at = (given: string | undefined, name: string): string =>
    resolve(given ?? join(home, 'keys', name));
  return {
    desk: {
      privateKeyFile: at(e.DESK_KEY_FILE, 'desk.pem'),
      publicKeyFolder: at(e.DESK_PUBLIC_KEYS, 'desk.public'),
    },
    audit: {
      privateKeyFile: at(e.AUDIT_KEY_FILE, 'audit.pem'),
      publicKeyFolder: at(e.AUDIT_PUBLIC_KEYS, 'audit.public'),
    },
  };
}

function refuseOtherThanLoopback(e: z.infer<typeof Environment>): void {
  for (const name of ['HOST', 'SANDBOX_HOST', 'METRICS_HOST'] as const) {
    // A sandbox that its clients have to be told of runs apart from them, and needs no database.
    const apart = name === 'SANDBOX_HOST' && e.SANDBOX_URL !== undefined;
    if (apart || LOOPBACK_HOSTS.includes(e[name])) continue;
    throw new Error(`configuration: ${name}: the embedded default binds loopback only`);
  }
}

/** The embedded default: each development account has its own account at the sandbox, so tokens are the agents' keys. */
function sandboxConnections(baseUrl: string): CredentialedConnection[] {
  return ['acct_a', 'acct_b'].map((account) => ({
    name: `sandbox_${account}`,
    adapter: 'sandbox',
    baseUrl,
    credential: { from: 'literal', value: `sandbox-${account}` },
    webhookSecret: { from: 'literal', value: `sandbox-webhooks-${account}` },
    accounts: [account],
    kinds: ['payment', 'payment_capture', 'refund', 'ticket'],
  }));
}

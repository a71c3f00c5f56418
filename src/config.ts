// The only reader of process.env. Everything is parsed once, at the start of a process, and passed down as data.
// A value that can't be used stops the process with a sentence that names the variable.
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  withoutCredential,
  type BareConnection,
  type CredentialedConnection,
} from './domain/connection.ts';
import { readEnvironment, type Environment } from './environment.ts';
import { oidcSettings, type OidcSettings } from './identity/oidc-settings.ts';
import type { KeyPlaces } from './signing/keys.ts';

/** Loopback is the only place where development credentials may be served from. */
const LOOPBACK_HOSTS = ['127.0.0.1', '::1', 'localhost'];

/** The policy that is shipped; beside `src` and `dist` alike. */
const SHIPPED_POLICY = fileURLToPath(new URL('../policies/default.yaml', import.meta.url));

/** With the rig somebody moves the clock and wants to see what becomes due by it. */
const RIGGED_SWEEP_MS = 1_000;

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
  const e = readEnvironment(env);
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

function keyPlaces(e: Environment, home: string): Config['keys'] {
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

function refuseOtherThanLoopback(e: Environment): void {
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

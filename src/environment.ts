// The variables that a process may be given, each with what it means and what it is where nobody sets it. Read by `config.ts` alone.
import { z } from 'zod';
import { oidcVariables } from './identity/oidc-settings.ts';

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

/** Ten years: nobody waits longer, and sums of times stay dates. */
const LONGEST_APPROVAL_TTL_MS = 10 * 366 * 24 * 3_600_000;

/** A hundred years: whoever must keep everything says so, and sums of times stay dates. */
const LONGEST_RETENTION_MS = 10 * LONGEST_APPROVAL_TTL_MS;

/** Thirty days: longer than any provider here disputes a call's outcome by itself, short enough to keep no archive of people. */
const RETENTION_MS = 30 * 24 * 3_600_000;

const Variables = z.object({
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
  /** Folder of the desk's public keys, for workers, APIs and whoever verifies. */
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

export type Environment = z.infer<typeof Variables>;

/** Throws an `Error` that names each variable which can't be used. */
export function readEnvironment(env: NodeJS.ProcessEnv): Environment {
  const parsed = Variables.safeParse(env);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`configuration: ${problems.join('; ')}`);
}

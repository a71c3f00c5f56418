// Our own processes: all started with the same Node and the supervisor's environment, which they read through config. Credentials of
// providers are left out of it for all but the worker.
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { ChildSpec, Command } from './child-spec.ts';
import { answersOk } from './probes.ts';

/** A worker finishes provider calls that are under way: beyond their deadline the drain around it (10 s), and some air. */
const WORKER_STOP_BEYOND_DEADLINE_MS = 20_000;
/** The API bounds its own end at 20 s; held callers are answered at once. */
const API_STOP_WITHIN_MS = 22_000;
const SANDBOX_STOP_WITHIN_MS = 5_000;

/** Address at which this machine reaches the API. */
export function apiUrl({ host, ports }: Config): string {
  const everywhere = ['0.0.0.0', '::', 'localhost', '127.0.0.1'].includes(host);
  const name = everywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${ports.api}`;
}

/** Migrations and first credentials; ends by itself. `binFolder`: absolute path of the compiled composition roots. */
export const migrateCommand = (binFolder: string): Command => own(binFolder, 'migrate');

/** The processes that run on the database and the engine, in the order in which they start. */
export function ownProcesses(
  config: Config,
  binFolder: string,
  env: NodeJS.ProcessEnv = process.env,
): ChildSpec[] {
  const bare = withoutCredentials(env, config);
  return [
    {
      ...own(binFolder, 'sandbox'),
      env: bare,
      isReady: () => answersOk(`http://127.0.0.1:${config.ports.sandboxAdmin}/healthz`),
      ...stopWithin(SANDBOX_STOP_WITHIN_MS),
    },
    // Nobody asks a worker; what it can't do yet waits in its task queue.
    {
      ...own(binFolder, 'worker'),
      isReady: async () => true,
      ...stopWithin(config.providerDeadlineMs + WORKER_STOP_BEYOND_DEADLINE_MS),
    },
    {
      ...own(binFolder, 'api'),
      env: bare,
      isReady: () => answersOk(`${apiUrl(config)}/readyz`),
      ...stopWithin(API_STOP_WITHIN_MS),
    },
  ];
}

/** Without the variables that hold credentials, unless a webhook secret is read from the same one. */
function withoutCredentials(env: NodeJS.ProcessEnv, { connections }: Config): NodeJS.ProcessEnv {
  const namesIn = (references: readonly Config['connections'][number]['credential'][]): string[] =>
    references.flatMap((one) => (one.from === 'env' ? [one.name] : []));
  const shared = new Set(namesIn(connections.map(({ webhookSecret }) => webhookSecret)));
  const held = namesIn(connections.map(({ credential }) => credential));
  const hidden = new Set(held.filter((name) => !shared.has(name)));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !hidden.has(name)));
}

function own(binFolder: string, name: string): Command {
  return {
    name,
    command: process.execPath,
    args: ['--enable-source-maps', join(binFolder, `${name}.js`)],
    followsParent: true,
  };
}

const stopWithin = (stopWithinMs: number) =>
  ({ stopSignal: 'SIGTERM', hurrySignal: 'SIGKILL', stopWithinMs }) as const;

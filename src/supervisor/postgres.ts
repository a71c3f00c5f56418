// The embedded Postgres: a cluster that either exists whole, with its database, or not at all.
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { ChildSpec, Command } from './child-spec.ts';
import { freshFolder, placePostgres, type PostgresPlace } from './postgres-place.ts';
import { runToEnd } from './spawn-logged.ts';

/** User and database of the embedded cluster; loopback needs no password (see `--auth`). */
export const EMBEDDED_NAME = 'holdfast';

/** Several processes with a pool each, one more API or a test run beside them; each idle one costs about 2 MB. */
const MAX_CONNECTIONS = 150;
/** A fast shutdown writes a checkpoint; on a slow disk with much to write that takes a while. */
const STOP_WITHIN_MS = 30_000;
/** In the postmaster's own file: pid first, then data, start, port, two addresses, shared memory, and the status. */
const STATUS_LINE = 7;

export interface EmbeddedPostgres {
  /** Where logs and pid notes go; also holds the data where it can. Absolute. */
  readonly home: string;
  readonly port: number;
  /** False only for tests: data may be lost when the machine (not Postgres) stops. */
  readonly durable: boolean;
}

export const embeddedUrl = (port: number, database: string = EMBEDDED_NAME): string =>
  `postgres://${EMBEDDED_NAME}@127.0.0.1:${port}/${database}`;

/** Creates the cluster and its database unless they exist. Interrupted, it starts over the next time. */
export async function preparePostgres(
  { home }: Pick<EmbeddedPostgres, 'home'>,
  stop?: AbortSignal,
): Promise<void> {
  const place = placePostgres(home);
  if (existsSync(place.data)) return;
  const unfinished = `${place.data}.unfinished`;
  freshFolder(unfinished, place.user);
  await runToEnd(
    command(place, home, 'initdb', [
      `--pgdata=${unfinished}`,
      `--username=${EMBEDDED_NAME}`,
      // Whoever may open a loopback connection on this machine is trusted; anything else needs an own DATABASE_URL.
      '--auth=trust',
      '--encoding=UTF8',
      // Built in: the same order and case rules on every machine, whatever locales it has.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
    ]),
    home,
    { stop },
  );
  await runToEnd(
    command(place, home, 'postgres', ['--single', '-D', unfinished, 'postgres']),
    home,
    { stop, input: `CREATE DATABASE ${EMBEDDED_NAME}\n` },
  );
  renameSync(unfinished, place.data);
}

/** The running server; `preparePostgres` comes first. */
export function postgresSpec(options: EmbeddedPostgres): ChildSpec {
  const place = placePostgres(options.home);
  const settings = {
    listen_addresses: '127.0.0.1',
    port: options.port,
    unix_socket_directories: '',
    max_connections: MAX_CONNECTIONS,
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...(options.durable
      ? {}
      : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return {
    ...command(place, options.home, 'postgres', ['-D', place.data, ...flags]),
    isReady: async (pid) => isServing(place.data, pid),
    // INT ends sessions and writes a checkpoint; QUIT drops everything and leaves recovery to the next start.
    stopSignal: 'SIGINT',
    hurrySignal: 'SIGQUIT',
    stopWithinMs: STOP_WITHIN_MS,
  };
}

function command(place: PostgresPlace, home: string, binary: string, args: string[]): Command {
  return {
    name: 'postgres',
    command: join(place.binaries, binary),
    args,
    // Nothing of the caller's PG* variables; and its folder may be closed to the other user.
    env: { PATH: '/usr/bin:/bin', HOME: home, LC_ALL: 'C' },
    cwd: '/',
    user: place.user,
    followsParent: false,
  };
}

/** What pg_ctl looks at: a port that answers is not yet a server that has recovered. */
function isServing(data: string, pid: number): boolean {
  try {
    const lines = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
    return Number(lines[0]) === pid && lines[STATUS_LINE]?.trim() === 'ready';
  } catch {
    return false;
  }
}

// The Temporal development server with its Web UI, state in one SQLite file.
import { SEARCH_ATTRIBUTES } from '../domain/search-attributes.ts';
import type { ChildSpec } from './child-spec.ts';
import { answersOk } from './probes.ts';

const STOP_WITHIN_MS = 15_000;

export interface EmbeddedTemporal {
  /** Where logs and pid notes go. Absolute. */
  readonly home: string;
  /** Absolute path of the Temporal CLI. */
  readonly cli: string;
  readonly port: number;
  readonly uiPort: number;
  readonly namespace: string;
  /** Undefined: in memory, gone when the server stops. */
  readonly databaseFile: string | undefined;
}

/** The running server; ready once its namespace answers. */
export function temporalSpec(options: EmbeddedTemporal): ChildSpec {
  const { port, uiPort, namespace, databaseFile } = options;
  const flags: [string, string][] = [
    ['--ip', '127.0.0.1'],
    ['--port', String(port)],
    ['--ui-ip', '127.0.0.1'],
    ['--ui-port', String(uiPort)],
    ['--namespace', namespace],
    ['--log-level', 'error'],
    ...Object.entries(SEARCH_ATTRIBUTES).map(([name, type]): [string, string] => [
      '--search-attribute',
      `${name}=${type}`,
    ]),
    ...(databaseFile === undefined ? [] : fileFlags(databaseFile)),
  ];
  const namespaceUrl = `http://127.0.0.1:${uiPort}/api/v1/namespaces/${encodeURIComponent(namespace)}`;
  return {
    name: 'temporal',
    command: options.cli,
    args: ['server', 'start-dev', '--ui-disable-news-fetch', ...flags.flat()],
    // Nothing of the caller's TEMPORAL_* variables, and no personal configuration file.
    env: { PATH: '/usr/bin:/bin', HOME: options.home },
    followsParent: false,
    isReady: () => answersOk(namespaceUrl),
    stopSignal: 'SIGTERM',
    hurrySignal: 'SIGKILL',
    stopWithinMs: STOP_WITHIN_MS,
  };
}

/**
 * Three times as many workflows a second as with SQLite's defaults (measured). A commit survives a crash of the process;
 * what a crash of the machine takes is started again from Postgres.
 */
const fileFlags = (databaseFile: string): [string, string][] => [
  ['--db-filename', databaseFile],
  ['--sqlite-pragma', 'journal_mode=WAL'],
  ['--sqlite-pragma', 'synchronous=NORMAL'],
];

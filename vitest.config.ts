// Suites by folder: the folder says what a test may touch, which servers it gets, and how long it may take. They run in
// the order below, the cheap ones first; the whole suite has two workers, the heavy suites one file at a time.
import { defineConfig } from 'vitest/config';

const WORKERS = 2;
const QUICK_MS = 15_000;
/** A cloned database per file, on a machine that is slow and shared. */
const WITH_DATABASE_MS = 60_000;
/** Processes that start, die and recover, workers that start in seconds. */
const WITH_PROCESSES_MS = 120_000;

const POSTGRES = './test/support/global-setup-postgres.ts';
const TEMPORAL = './test/support/global-setup-temporal.ts';

interface Suite {
  readonly name: string;
  readonly timeoutMs: number;
  readonly servers?: readonly string[];
  /** One file at a time: the file starts processes of its own or needs the machine's full speed. */
  readonly alone?: boolean;
}

const suites: readonly Suite[] = [
  { name: 'unit', timeoutMs: QUICK_MS },
  { name: 'operations', timeoutMs: QUICK_MS },
  { name: 'providers', timeoutMs: QUICK_MS },
  { name: 'sandbox', timeoutMs: QUICK_MS },
  { name: 'supervisor', timeoutMs: WITH_DATABASE_MS },
  { name: 'architecture', timeoutMs: WITH_DATABASE_MS },
  { name: 'store', timeoutMs: WITH_DATABASE_MS, servers: [POSTGRES] },
  { name: 'api', timeoutMs: WITH_DATABASE_MS, servers: [POSTGRES] },
  { name: 'replay', timeoutMs: WITH_PROCESSES_MS, alone: true },
  { name: 'workflows', timeoutMs: WITH_PROCESSES_MS, servers: [POSTGRES, TEMPORAL], alone: true },
  { name: 'e2e', timeoutMs: WITH_PROCESSES_MS, servers: [POSTGRES, TEMPORAL], alone: true },
  { name: 'faults', timeoutMs: WITH_PROCESSES_MS, servers: [POSTGRES, TEMPORAL], alone: true },
];

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: WORKERS,
    passWithNoTests: false,
    projects: suites.map(({ name, timeoutMs, servers = [], alone = false }, order) => ({
      test: {
        name,
        include: [`test/${name}/**/*.test.ts`],
        pool: 'forks' as const,
        globalSetup: [...servers],
        testTimeout: timeoutMs,
        hookTimeout: Math.max(timeoutMs, WITH_DATABASE_MS),
        teardownTimeout: WITH_DATABASE_MS,
        maxWorkers: alone ? 1 : WORKERS,
        fileParallelism: !alone,
        sequence: { groupOrder: order },
      },
    })),
  },
});

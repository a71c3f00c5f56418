// Suites by folder: the folder says what a test may touch, which servers it gets, and how long it may take. They run in
// the order below, the cheap ones first, with two workers.
import { defineConfig } from 'vitest/config';

const WORKERS = 2;
const QUICK_MS = 15_000;
/** A cloned database per file, on a machine that is slow and shared. */
const WITH_DATABASE_MS = 60_000;
/** Processes that start, die and recover, workers that start in seconds. */
const WITH_PROCESSES_MS = 120_000;

/** Real processes that are killed on a shared machine: one failure may be the machine's, the same one twice is not. It is reported. */
const RETRIES_WITH_PROCESSES = 1;

const POSTGRES = './test/support/global-setup-postgres.ts';
const TEMPORAL = './test/support/global-setup-temporal.ts';

interface Suite {
  readonly name: string;
  readonly timeoutMs: number;
  readonly servers?: readonly string[];
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
  { name: 'replay', timeoutMs: WITH_PROCESSES_MS },
  // These mostly wait for providers and timers, so two files at a time take half as long as one.
  { name: 'workflows', timeoutMs: WITH_PROCESSES_MS, servers: [POSTGRES, TEMPORAL] },
  { name: 'e2e', timeoutMs: WITH_PROCESSES_MS, servers: [POSTGRES, TEMPORAL] },
  { name: 'faults', timeoutMs: WITH_PROCESSES_MS, servers: [POSTGRES, TEMPORAL] },
];

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: WORKERS,
    passWithNoTests: false,
    projects: suites.map(({ name, timeoutMs, servers = [] }, order) => ({
      test: {
        name,
        include: [`test/${name}/**/*.test.ts`],
        pool: 'forks' as const,
        globalSetup: [...servers],
        testTimeout: timeoutMs,
        hookTimeout: Math.max(timeoutMs, WITH_DATABASE_MS),
        teardownTimeout: WITH_DATABASE_MS,
        maxWorkers: WORKERS,
        retry: timeoutMs === WITH_PROCESSES_MS ? RETRIES_WITH_PROCESSES : 0,
        sequence: { groupOrder: order },
      },
    })),
  },
});

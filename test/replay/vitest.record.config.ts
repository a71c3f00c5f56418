// Runs the recording as a test run of its own, because it needs the same servers and the same system as the tests do.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const LONGEST_MS = 300_000;

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../../', import.meta.url)),
    include: ['test/replay/record-histories.ts'],
    globalSetup: [
      './test/support/global-setup-postgres.ts',
      './test/support/global-setup-temporal.ts',
    ],
    pool: 'forks',
    testTimeout: LONGEST_MS,
    hookTimeout: LONGEST_MS,
    teardownTimeout: LONGEST_MS,
  },
});

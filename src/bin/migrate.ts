// Brings the database to this version's schema and, on an empty one, writes the first credentials. Runs once and ends.
import { ensureFirstCredentials } from '../bootstrap/first-credentials.ts';
import { ensureSigningKeys } from '../bootstrap/signing-keys.ts';
import { readConfig } from '../config.ts';
import { KINDS } from '../operations/registry.ts';
import { migrate } from '../store/migrate.ts';
import { createPool } from '../store/pool.ts';

try {
  const config = readConfig();
  await migrate(config.postgres.url);
  const pool = createPool(config.postgres.url, { max: 1, onIdleError: () => {} });
  await ensureFirstCredentials(pool, config.home, KINDS);
  ensureSigningKeys(config.keys);
  await pool.end();
} catch (error) {
  console.error(error instanceof Error ? `migrate: ${error.message}` : error);
  process.exit(1);
}

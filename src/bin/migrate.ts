// Brings the database to this version's schema and, where that is wanted, gives an empty one development credentials. Runs once and ends.
import { ensureFirstCredentials } from '../bootstrap/first-credentials.ts';
import { ensureSigningKeys } from '../bootstrap/signing-keys.ts';
import { readConfig } from '../config.ts';
import { KINDS } from '../operations/registry.ts';
import { migrate } from '../store/migrate.ts';
import { createPool } from '../store/pool.ts';
import { hasNoPrincipals } from '../store/principals.store.ts';

try {
  const config = readConfig();
  await migrate(config.postgres.url);
  const pool = createPool(config.postgres.url, { max: 1, onIdleError: () => {} });
  if (config.firstCredentials) await ensureFirstCredentials(pool, config.home, KINDS);
  else if (await hasNoPrincipals(pool)) {
    console.error(
      'migrate: nobody may do anything yet; `npm run admin -- first-admin --account A` makes the first admin',
    );
  }
  ensureSigningKeys(config.keys);
  await pool.end();
} catch (error) {
  console.error(error instanceof Error ? `migrate: ${error.message}` : error);
  process.exit(1);
}

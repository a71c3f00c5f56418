// Brings a database to the schema of this version. Forward only: numbered SQL files, each applied once, under an advisory lock.
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';

const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url));

/** Applies what is missing; safe to call from several processes at once. */
export async function migrate(databaseUrl: string): Promise<void> {
  await runner({
    databaseUrl,
    dir: MIGRATIONS,
    direction: 'up',
    migrationsTable: 'schema_migrations',
    checkOrder: true,
    advisoryLockMode: 'wait',
    log: () => {},
  });
}

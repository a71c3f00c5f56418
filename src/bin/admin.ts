// Composition root of the offline commands: for whoever has the database, when nobody has a key. `npm run admin -- first-admin --account A`.
import { Command } from 'commander';
import { pino } from 'pino';
import { ensureAdmin } from '../bootstrap/first-admin.ts';
import { readConfig } from '../config.ts';
import { createLogger } from '../observability/logger.ts';
import { createPool } from '../store/pool.ts';

interface Options {
  readonly account: string;
  readonly name: string;
  readonly owner?: string;
}

/** The secret alone goes to standard output, so that it can be piped into where secrets are kept. */
async function firstAdmin({ account, name, owner }: Options): Promise<void> {
  const config = readConfig();
  if (!config.connections.some(({ accounts }) => accounts.includes(account))) {
    throw new Error(`no connection serves the account ${account}`);
  }
  const pool = createPool(config.postgres.url, { max: 1, onIdleError: () => {} });
  try {
    const made = await ensureAdmin(pool, { accountId: account, name, owner });
    const { principalId: principal_id, keyId: key_id } = made;
    const logger = createLogger('admin', config.logLevel, pino.destination(2));
    logger.warn({ principal_id, key_id }, 'admin key made offline');
    console.error(`${principal_id} has the new key ${key_id}; its secret is shown this one time:`);
    console.log(made.secret);
  } finally {
    await pool.end();
  }
}

const program = new Command('admin').description('Commands that need the database itself.');
program
  .command('first-admin')
  .description('Make a key for an admin of an account, whatever else was lost.')
  .requiredOption('--account <id>', 'the account: a-z, 0-9 and _')
  .option('--name <name>', 'name of the admin', 'admin')
  .option('--owner <owner>', 'the human or team behind it, where the admin is new')
  .action(firstAdmin);

try {
  await program.parseAsync();
} catch (error) {
  console.error(error instanceof Error ? `admin: ${error.message}` : error);
  process.exit(1);
}

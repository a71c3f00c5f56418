// Makes a fresh clone runnable and leaves a prepared one alone: Node, packages, Postgres binaries, Temporal CLI.
// Nothing but Node's own modules may be imported here: it runs before there are any packages.
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { withLock } from './setup/files.mjs';
import { checkNode, installPackages } from './setup/packages.mjs';
import { preparePostgresBinaries } from './setup/postgres-binaries.mjs';
import { findTemporalCli } from './setup/temporal-cli.mjs';

/**
 * Prepares what will be used: Postgres only without DATABASE_URL, Temporal only without TEMPORAL_ADDRESS.
 * Returns `{ temporalCli }`, undefined when an outside server is used. Throws an Error whose message is for people.
 */
export async function setUp(env = process.env) {
  checkNode();
  return withLock('set-up', async () => {
    installPackages();
    if (!env.DATABASE_URL) preparePostgresBinaries();
    return { temporalCli: env.TEMPORAL_ADDRESS ? undefined : await findTemporalCli(env) };
  });
}

/** Ends the process with the sentence of an error, without a stack that would bury it. */
export function failWith(error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

/** True when this module's file is what node was started with. */
export const isStartedFile = (moduleUrl) =>
  process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(moduleUrl);

if (isStartedFile(import.meta.url)) await setUp().catch(failWith);

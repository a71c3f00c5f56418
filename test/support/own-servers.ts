// A Postgres and a Temporal server of a test's own, so that it can take them away and bring them back.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { findTemporalCli } from '../../scripts/setup/temporal-cli.mjs';
import { migrate } from '../../src/store/migrate.ts';
import type { ChildSpec } from '../../src/supervisor/child-spec.ts';
import { embeddedUrl, postgresSpec, preparePostgres } from '../../src/supervisor/postgres.ts';
import { freePort } from '../../src/supervisor/probes.ts';
import type { SupervisedChild } from '../../src/supervisor/supervised-child.ts';
import { temporalSpec } from '../../src/supervisor/temporal.ts';
import type { TestDatabase } from './postgres.ts';
import { startChild, temporaryHome } from './shared-servers.ts';

/** How it goes away: with time to end its work, or as in a crash. */
export type Ending = 'stop' | 'crash';

export interface OwnServer {
  readonly goAway: (ending: Ending) => Promise<void>;
  /** Resolves when it serves again. */
  readonly comeBack: () => Promise<void>;
  readonly end: () => Promise<void>;
}

async function ownServer(spec: ChildSpec, home: string): Promise<OwnServer> {
  let child: SupervisedChild = await startChild(spec, home);
  return {
    async goAway(ending) {
      if (ending === 'crash') child.hurry();
      await child.stop();
    },
    async comeBack() {
      child = await startChild(spec, home);
    },
    async end() {
      await child.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Migrated, and durable: what was committed must survive a crash of the server. */
export async function startOwnPostgres(): Promise<OwnServer & { readonly database: TestDatabase }> {
  const home = temporaryHome();
  const port = await freePort();
  await preparePostgres({ home });
  const server = await ownServer(postgresSpec({ home, port, durable: true }), home);
  const url = embeddedUrl(port);
  await migrate(url);
  return { ...server, database: { url, drop: () => server.end() } };
}

/** With its state in a file, as the embedded default has it; without search attributes it is as one that nobody has set up. */
export async function startOwnTemporal({ searchAttributes = true } = {}): Promise<
  OwnServer & { readonly address: string }
> {
  const home = temporaryHome();
  const port = await freePort();
  const spec = temporalSpec({
    home,
    cli: await findTemporalCli(),
    port,
    uiPort: await freePort(),
    namespace: 'default',
    databaseFile: join(home, 'temporal.db'),
  });
  const given = searchAttributes ? spec : { ...spec, args: withoutFlag(spec.args) };
  return { ...(await ownServer(given, home)), address: `127.0.0.1:${port}` };
}

const FLAG = '--search-attribute';

const withoutFlag = (args: readonly string[]): string[] =>
  args.filter((one, at) => one !== FLAG && args[at - 1] !== FLAG);

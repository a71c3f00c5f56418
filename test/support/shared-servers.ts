// One Postgres and one Temporal server for a whole run, started by the first suite that needs them and stopped after the
// last. Vitest loads the global set-up once per suite, so what they share hangs on the global object.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findTemporalCli } from '../../scripts/setup/temporal-cli.mjs';
import type { ChildSpec } from '../../src/supervisor/child-spec.ts';
import { createHome } from '../../src/supervisor/home.ts';
import { embeddedUrl, postgresSpec, preparePostgres } from '../../src/supervisor/postgres.ts';
import { freePort } from '../../src/supervisor/probes.ts';
import { SupervisedChild } from '../../src/supervisor/supervised-child.ts';
import { temporalSpec } from '../../src/supervisor/temporal.ts';
import { TEMPLATE_DATABASE } from './template-database.ts';

/** initdb takes about 10 s on a busy machine, recovery is not needed. */
const READY_WITHIN_MS = 90_000;

interface Shared {
  users: number;
  started: Promise<{ readonly address: string; readonly stop: () => Promise<void> }>;
}

const shared = globalThis as typeof globalThis & { holdfastServers?: Map<string, Shared> };

/** The server of that name, started once; `release` stops it when its last user has released it. */
export async function useServer(
  name: 'postgres' | 'temporal',
): Promise<{ readonly address: string; readonly release: () => Promise<void> }> {
  shared.holdfastServers ??= new Map();
  const servers = shared.holdfastServers;
  const server = servers.get(name) ?? {
    users: 0,
    started: name === 'postgres' ? startPostgres() : startTemporal(),
  };
  servers.set(name, server);
  server.users += 1;
  const { address, stop } = await server.started;
  const release = async (): Promise<void> => {
    server.users -= 1;
    if (server.users > 0) return;
    servers.delete(name);
    await stop();
  };
  return { address, release };
}

async function startPostgres() {
  const home = temporaryHome();
  const port = await freePort();
  await preparePostgres({ home });
  const child = await startChild(postgresSpec({ home, port, durable: false }), home);
  try {
    await migrateTemplate(port);
  } catch (error) {
    await child.stop();
    throw error;
  }
  return { address: embeddedUrl(port), stop: () => stopChild(child, home) };
}

/** Migrated once per run: each clone then costs milliseconds. */
async function migrateTemplate(port: number): Promise<void> {
  const { Client } = await import('pg');
  const client = new Client({ connectionString: embeddedUrl(port) });
  await client.connect();
  await client.query(`CREATE DATABASE ${TEMPLATE_DATABASE}`);
  await client.end();
  const { migrate } = await import('../../src/store/migrate.ts');
  await migrate(embeddedUrl(port, TEMPLATE_DATABASE));
}

async function startTemporal() {
  const home = temporaryHome();
  const port = await freePort();
  const spec = temporalSpec({
    home,
    cli: await findTemporalCli(),
    port,
    uiPort: await freePort(),
    namespace: 'default',
    databaseFile: undefined,
  });
  const child = await startChild(spec, home);
  return { address: `127.0.0.1:${port}`, stop: () => stopChild(child, home) };
}

/** Runs a server until `stop`, and not longer than this process. */
export async function startChild(spec: ChildSpec, home: string): Promise<SupervisedChild> {
  const child = new SupervisedChild(spec, home, (sentence) =>
    process.stderr.write(`${sentence}\n`),
  );
  // A run that is broken off must not leave servers behind.
  process.once('exit', () => child.hurry());
  child.start();
  await child.ready(READY_WITHIN_MS);
  return child;
}

async function stopChild(child: SupervisedChild, home: string): Promise<void> {
  await child.stop();
  rmSync(home, { recursive: true, force: true });
}

/** Open to others, because as root Postgres runs as another user. */
export function temporaryHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-test-'));
  chmodSync(home, 0o755);
  createHome(home);
  return home;
}

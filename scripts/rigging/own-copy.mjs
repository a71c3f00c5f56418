// What every script needs that starts a copy of its own beside others: a home and ports that nobody has.
import { once } from 'node:events';
import { chmodSync, mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PORTS = [
  'PORT',
  'SANDBOX_PORT',
  'SANDBOX_ADMIN_PORT',
  'METRICS_PORT',
  'TEMPORAL_PORT',
  'TEMPORAL_UI_PORT',
  'POSTGRES_PORT',
];

/** Far above what one machine can send: neither what is proved nor what is measured are the limits. */
export const NO_LIMITS = { RATE_LIMIT_SUBMITS_PER_S: '1000000', RATE_LIMIT_READS_PER_S: '1000000' };

/**
 * A fresh folder for `HOLDFAST_HOME`. Where root runs this, Postgres is another user: closed to it, its data would lie elsewhere and
 * outlive the home.
 */
export function newHome(purpose) {
  const home = mkdtempSync(join(tmpdir(), `holdfast-${purpose}-`));
  chmodSync(home, 0o755);
  return home;
}

/** A free port for each name that a copy listens by, as its environment. */
export async function freePorts() {
  const pairs = PORTS.map(async (name) => [name, String(await freePort())]);
  return Object.fromEntries(await Promise.all(pairs));
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

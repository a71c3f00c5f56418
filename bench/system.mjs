// A whole Holdfast in a home of its own, started as a user would start it, with the anchors beside it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import { build } from '../scripts/build.mjs';
import { freePort, freePorts, newHome, NO_LIMITS } from '../scripts/rigging/own-copy.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

const agent = new Agent({ connections: 128, pipelining: 1, headersTimeout: 120_000 });

/** Starts everything, with some more environment; `stop` ends it and removes what it left. */
export async function startSystem(more = {}) {
  const home = newHome('bench');
  const env = {
    ...process.env,
    ...more,
    ...(await freePorts()),
    HOLDFAST_HOME: home,
    LOG_LEVEL: 'warn',
    ...NO_LIMITS,
  };
  const supervisor = await startNode(join(root, 'scripts', 'start.mjs'), env, 'ready ');
  const { accounts } = JSON.parse(readFileSync(join(home, 'credentials.json'), 'utf8'));
  const base = `http://127.0.0.1:${env.PORT}`;
  const databaseUrl = `postgres://holdfast@127.0.0.1:${env.POSTGRES_PORT}/holdfast`;
  const temporalAddress = `127.0.0.1:${env.TEMPORAL_PORT}`;
  return {
    base,
    home,
    databaseUrl,
    temporalAddress,
    sandboxAdmin: `http://127.0.0.1:${env.SANDBOX_ADMIN_PORT}`,
    token: accounts.acct_a.agent.token,
    approverToken: accounts.acct_a.approver.token,
    startAnchor: (name) =>
      startNode(
        join(root, 'bench', 'anchors', `${name}.mjs`),
        { ...env, DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporalAddress },
        'ready',
      ),
    async stop() {
      await stopNode(supervisor);
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/**
 * Postgres and one API alone: no worker, and an engine that refuses connections, so that what is measured is the door. Claims pile up
 * in the outbox, as they do when Temporal is away.
 */
export async function startDoor() {
  await build();
  const { SupervisedChild } = await import('../dist/supervisor/supervised-child.js');
  const { embeddedUrl, postgresSpec, preparePostgres } =
    await import('../dist/supervisor/postgres.js');
  const { createHome } = await import('../dist/supervisor/home.js');
  const home = newHome('bench');
  createHome(home);
  const port = await freePort();
  await preparePostgres({ home });
  const postgres = new SupervisedChild(postgresSpec({ home, port, durable: true }), home, () => {});
  postgres.start();
  await postgres.ready(60_000);
  const env = {
    ...process.env,
    ...NO_LIMITS,
    PORT: String(await freePort()),
    METRICS_PORT: String(await freePort()),
    DATABASE_URL: embeddedUrl(port),
    HOLDFAST_FIRST_CREDENTIALS: '1',
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    HOLDFAST_HOME: home,
    LOG_LEVEL: 'error',
  };
  await once(
    spawn(process.execPath, [join(root, 'dist', 'bin', 'migrate.js')], { cwd: root, env }),
    'exit',
  );
  const api = spawn(process.execPath, [join(root, 'dist', 'bin', 'api.js')], {
    cwd: root,
    env,
    stdio: 'inherit',
  });
  const base = `http://127.0.0.1:${env.PORT}`;
  while (!(await answers(`${base}/healthz`))) await pause(100);
  const { accounts } = JSON.parse(readFileSync(join(home, 'credentials.json'), 'utf8'));
  return {
    base,
    databaseUrl: env.DATABASE_URL,
    token: accounts.acct_a.agent.token,
    startAnchor: (name) => startNode(join(root, 'bench', 'anchors', `${name}.mjs`), env, 'ready'),
    async stop() {
      await stopNode(api);
      await postgres.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function answers(url) {
  return call('GET', url).then(
    () => true,
    () => false,
  );
}

/** A process of ours that says a line when it is ready; what it says after the marker is its `said`. Its output is read to the end. */
async function startNode(script, env, marker) {
  const child = spawn(process.execPath, [script], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  const said = await new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`${script} ended before it was ready:\n${output}`)));
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const line = output.split('\n').find((one) => one.startsWith(marker));
      if (line !== undefined) resolve(line.slice(marker.length).trim());
    });
  });
  return Object.assign(child, { said });
}

export async function stopNode(child) {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** One HTTP exchange; answers status and body, and throws where the status is not one of `allowed`. */
export async function call(method, url, { headers = {}, body, allowed = [200, 201, 202] } = {}) {
  const answer = await request(url, {
    dispatcher: agent,
    method,
    headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.body.text();
  if (!allowed.includes(answer.statusCode)) {
    throw new Error(`${method} ${url}: ${answer.statusCode} ${text.slice(0, 300)}`);
  }
  return JSON.parse(text);
}

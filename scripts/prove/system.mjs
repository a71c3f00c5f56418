// The system under proof: `npm start` in a home of its own with the rig on, and a second API beside it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Pool } from 'pg';
import { freePort, freePorts, newHome, NO_LIMITS } from '../rigging/own-copy.mjs';
import { place, until } from '../rigging/place.mjs';
import { projectFolder } from '../setup/files.mjs';

/** Times as in the fault tests: what is proved doesn't depend on them, and nobody waits for half a minute. */
const SHORT_TIMES = {
  PROVIDER_DEADLINE_MS: '2500',
  RECONCILE_FIRST_LOOK_MS: '300',
  SWEEP_INTERVAL_MS: '1000',
  RELAY_INTERVAL_MS: '200',
};
/** With a build and a new database, on a slow machine. */
const START_WITHIN_MS = 180_000;

/** Starts everything. `stop` ends it; the home is kept where `keep` is asked for, to look at its logs. */
export async function startSystem() {
  const home = newHome('prove');
  const env = {
    ...process.env,
    ...(await freePorts()),
    ...SHORT_TIMES,
    ...NO_LIMITS,
    HOLDFAST_HOME: home,
    HOLDFAST_RIG: '1',
    LOG_LEVEL: 'info',
  };
  const supervisor = await startSupervisor(env);
  const rig = await place(env);
  const second = secondApi(env);
  await second.start(await freePort());
  const { accounts } = JSON.parse(readFileSync(join(home, 'credentials.json'), 'utf8'));
  const pool = new Pool({ connectionString: rig.config.postgres.url, max: 2 });
  // Postgres goes away on purpose.
  pool.on('error', () => {});
  return {
    home,
    rig,
    pool,
    second,
    apis: [rig.base, second.base],
    token: accounts.acct_a.agent.token,
    operatorToken: accounts.acct_a.operator.token,
    tellProvider: (path, body) => askProvider(env, 'POST', path, body),
    providerList: async (name) => (await askProvider(env, 'GET', `/admin/${name}`))[name],
    async stop({ keep }) {
      await pool.end();
      await second.kill();
      await ended(supervisor, 'SIGTERM');
      if (!keep && existsSync(home)) rmSync(home, { recursive: true, force: true });
    },
  };
}

async function askProvider(env, method, path, body) {
  const answer = await fetch(`http://127.0.0.1:${env.SANDBOX_ADMIN_PORT}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

async function startSupervisor(env) {
  const child = spawn(process.execPath, [join(projectFolder, 'scripts', 'start.mjs')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  // Read to the end: it goes on talking, and a closed pipe would end it.
  child.stdout.on('data', (chunk) => (output += chunk));
  await until(
    'it started',
    () => {
      if (child.exitCode !== null) throw new Error(`it did not start:\n${output}`);
      return /^ready /m.test(output);
    },
    START_WITHIN_MS,
  ).catch((error) => {
    child.kill('SIGTERM');
    throw error;
  });
  return child;
}

/** An API of nobody: killed and started here, as another machine's would be. */
function secondApi(env) {
  let child;
  const second = {
    base: undefined,
    async start(port = Number(new URL(second.base).port)) {
      second.base = `http://127.0.0.1:${port}`;
      child = spawn(process.execPath, [join(projectFolder, 'dist', 'bin', 'api.js')], {
        env: { ...env, PORT: String(port) },
        stdio: 'ignore',
      });
      await until('the second API answers', () =>
        fetch(`${second.base}/healthz`).then(
          ({ ok }) => ok,
          () => second.restart(),
        ),
      );
    },
    /** It ends by itself where it met no database at its start, or a crash point. */
    restart() {
      if (child.exitCode === null && child.signalCode === null) return;
      child = spawn(child.spawnfile, child.spawnargs.slice(1), {
        env: { ...env, PORT: new URL(second.base).port },
        stdio: 'ignore',
      });
    },
    kill: () => ended(child, 'SIGKILL'),
  };
  return second;
}

async function ended(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const end = once(child, 'exit');
  child.kill(signal);
  await end;
}

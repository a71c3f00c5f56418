// What the rig is where nobody asked for it: nothing. `npm start` on the run's servers, with every crash point armed below its home.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CredentialsFile } from '../../src/bootstrap/first-credentials.ts';
import { CRASH_POINTS } from '../../src/rig/crash-points.ts';
import { channelPath, createPlaces, pointPath } from '../../src/rig/places.ts';
import { freePort } from '../../src/supervisor/probes.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { testTemporal } from '../support/temporal.ts';
import { until } from '../support/until.ts';

const SCRIPTS = fileURLToPath(new URL('../../scripts/', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'holdfast-unrigged-'));

let database: TestDatabase;
let supervisor: ChildProcess;
let base: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  database = await createTestDatabase();
  const { address, taskQueue } = testTemporal();
  const ports = ['PORT', 'SANDBOX_PORT', 'SANDBOX_ADMIN_PORT', 'METRICS_PORT'];
  const free = ports.map(async (name) => [name, String(await freePort())]);
  env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    ...(Object.fromEntries(await Promise.all(free)) as Record<string, string>),
    HOLDFAST_HOME: home,
    DATABASE_URL: database.url,
    HOLDFAST_FIRST_CREDENTIALS: '1',
    TEMPORAL_ADDRESS: address,
    TEMPORAL_TASK_QUEUE: taskQueue,
  };
  base = `http://127.0.0.1:${env['PORT']}`;
  createPlaces(home);
  for (const point of CRASH_POINTS) writeFileSync(pointPath(home, point), '{"do":"kill"}');
  supervisor = spawn(process.execPath, [join(SCRIPTS, 'start.mjs')], { env, stdio: 'ignore' });
  await until('it serves', () =>
    fetch(`${base}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
});
afterAll(async () => {
  const end = once(supervisor, 'exit');
  supervisor.kill('SIGTERM');
  await end;
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

const rig = (message: unknown) =>
  spawnSync(join(SCRIPTS, 'rig'), [JSON.stringify(message)], { env, encoding: 'utf8' }).status;

it('no process looks at an armed point', async () => {
  const { accounts } = JSON.parse(
    readFileSync(join(home, 'credentials.json'), 'utf8'),
  ) as CredentialsFile;
  const answer = await fetch(`${base}/agent/operations/payment`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${accounts['acct_a']?.['agent']?.token}`,
      'idempotency-key': database.url.slice(-20),
      'content-type': 'application/json',
      prefer: 'wait=30',
    },
    body: '{"amount":"10.00","currency":"USD","customer_id":"cus_1","invoice_id":"inv_1"}',
  });
  expect(await answer.json()).toMatchObject({ status: 'SUCCEEDED' });
  const left = readdirSync(dirname(pointPath(home, 'before_claim')));
  expect(left.toSorted()).toEqual(CRASH_POINTS.toSorted());
});

it('the supervisor has no channel, and a control fails', () => {
  expect(existsSync(channelPath(home))).toBe(false);
  expect(rig({ control: 'process', do: 'stop' })).toBe(1);
});

it('a control that nobody offers is told apart from one that fails', () => {
  expect(rig({ control: 'process', do: 'restart_with', change: 'anything' })).toBe(3);
  expect(rig({ control: 'weather', do: 'rain' })).toBe(3);
});

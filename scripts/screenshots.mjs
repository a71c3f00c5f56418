// Pictures for the runbook: a payment whose answer is lost, as Temporal Web shows it. Starts a system of its own, loses an answer while
// lookups are down, and photographs the list, the run, its reconciliation, and both again when it is settled. Writes docs/images/*.png.
//
//   node scripts/screenshots.mjs            needs a Chromium: CHROMIUM_PATH, or one of the usual places
//
// With --running it uses the system that the environment names (ports, HOLDFAST_HOME) and leaves it as it is.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { freePorts, newHome } from './rigging/own-copy.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = join(root, 'docs', 'images');

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** It talks to loopback only. */
const FLAGS =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync'.split(
    ' ',
  );

const VIEW = { width: 1280, height: 880 };
const PATIENCE_MS = 90_000;
const PORTS = {
  PORT: 8080,
  SANDBOX_PORT: 8090,
  SANDBOX_ADMIN_PORT: 8091,
  METRICS_PORT: 9464,
  TEMPORAL_PORT: 7233,
  TEMPORAL_UI_PORT: 8233,
  POSTGRES_PORT: 54_329,
};

async function photograph({ env, home }) {
  const { accounts } = JSON.parse(readFileSync(join(home, 'credentials.json'), 'utf8'));
  const browser = await chromium.launch({ executablePath: findChromium(), args: FLAGS });
  try {
    const page = await browser.newPage({ viewport: VIEW, colorScheme: 'light' });
    await tellStory({ env, page, token: accounts.acct_a.agent.token });
  } finally {
    await browser.close();
  }
}

async function tellStory({ env, page, token }) {
  const api = `http://127.0.0.1:${env.PORT}`;
  const admin = `http://127.0.0.1:${env.SANDBOX_ADMIN_PORT}`;
  const key = `lost-answer-${Date.now() % 1_000_000}`;
  const submit = (name) => post(`${api}/agent/operations/payment`, payment(name), token, name);
  const read = async (id) =>
    (await fetch(`${api}/agent/operations/${id}`, { headers: bearer(token) })).json();

  await submit(`ordinary-${key.slice(-6)}`);
  await post(`${admin}/admin/script`, {
    kind: 'payment',
    match: [key],
    modes: ['commit_then_timeout'],
  });
  await post(`${admin}/admin/lookup`, { kind: 'payment', match: [key], mode: 'down' });
  const { operation_id: id } = await submit(key);
  await until('it is being reconciled', async () => (await read(id)).status === 'RECONCILING');

  const run = await pagesOf(env, `acct_a/${key}`);
  const reconciliation = await pagesOf(env, `acct_a:reconcile:${id}`);
  const unknown = `?query=${encodeURIComponent('OperationStatus = "UNKNOWN"')}`;
  await shoot(page, 'lost-answer-list', `${webOf(env)}${unknown}`, [`acct_a/${key}`]);
  await shoot(page, 'lost-answer-run', `${run}/user-metadata`, ['UNKNOWN', 'was lost']);
  await shoot(page, 'lost-answer-reconciliation', `${reconciliation}/user-metadata`, [
    'RECONCILING',
  ]);
  await post(`${admin}/admin/lookup`, { kind: 'payment', match: [key], mode: 'up' });
  await until('it is settled', async () => (await read(id)).status === 'SUCCEEDED');
  await shoot(page, 'lost-answer-looks', `${reconciliation}/timeline`, ['COMPLETED', 'Timeline'], {
    scrollTo: 'Timeline',
  });
  await shoot(page, 'lost-answer-settled', `${run}/search-attributes`, ['SUCCEEDED']);
}

const webOf = ({ TEMPORAL_UI_PORT: port }) =>
  `http://127.0.0.1:${port}/namespaces/default/workflows`;

/** Address of a run in Temporal Web, to which the name of a page is added. */
async function pagesOf(env, workflowId) {
  const path = `workflows/${encodeURIComponent(workflowId)}`;
  const api = `http://127.0.0.1:${env.TEMPORAL_UI_PORT}/api/v1/namespaces/default`;
  const { workflowExecutionInfo } = await (await fetch(`${api}/${path}`)).json();
  const { runId } = workflowExecutionInfo.execution;
  return `${webOf(env)}/${encodeURIComponent(workflowId)}/${runId}`;
}

const bearer = (token) => ({ authorization: `Bearer ${token}` });

const payment = (name) => ({
  amount: '25.00',
  currency: 'USD',
  customer_id: 'cus_1',
  invoice_id: `inv-${name}`,
});

async function post(url, body, token, key) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token ? { ...bearer(token), 'idempotency-key': key } : {}),
    },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

async function until(what, holds) {
  const end = Date.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`waited in vain until ${what}`);
    await pause(500);
  }
}

/** One picture, once the page shows these texts; `scrollTo`: the last heading of this name comes to the top. */
async function shoot(page, name, url, texts, { scrollTo } = {}) {
  await page.goto(url);
  for (const text of texts) await until(`${name} shows ${text}`, () => isShown(page, text));
  if (scrollTo) {
    const heading = page.getByRole('heading', { name: scrollTo }).last();
    await heading.evaluate((element) => element.scrollIntoView({ block: 'start' }));
  }
  // What comes in with the last answers moves the rest.
  await pause(2_000);
  await page.screenshot({ path: join(FOLDER, `${name}.png`) });
}

/** Temporal Web renders current details in a frame of their own. */
async function isShown(page, text) {
  const visible = (frame) => frame.getByText(text).locator('visible=true').count();
  const counts = await Promise.all(page.frames().map((frame) => visible(frame).catch(() => 0)));
  return counts.some((count) => count > 0);
}

function findChromium() {
  const found = [process.env.CHROMIUM_PATH, ...PLACES].find((path) => path && existsSync(path));
  if (!found) throw new Error('no Chromium found: set CHROMIUM_PATH');
  return found;
}

function runningSystem() {
  const ports = Object.fromEntries(
    Object.entries(PORTS).map(([name, usual]) => [name, process.env[name] ?? String(usual)]),
  );
  const home = resolve(root, process.env.HOLDFAST_HOME ?? '.holdfast');
  return { env: ports, home, stop: async () => {} };
}

async function startSystem() {
  const home = newHome('screenshots');
  const env = { ...(await freePorts()), ...process.env, HOLDFAST_HOME: home };
  const child = spawn(process.execPath, [join(root, 'scripts', 'start.mjs')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    rmSync(home, { recursive: true, force: true });
  };
  let said = '';
  child.stdout.on('data', (chunk) => (said += String(chunk)));
  try {
    await until('the system is ready', () => {
      if (child.exitCode !== null) throw new Error(`the system did not start:\n${said}`);
      return said.includes('ready ');
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { env, home, stop };
}

mkdirSync(FOLDER, { recursive: true });
const { values } = parseArgs({ options: { running: { type: 'boolean' } } });
const system = values.running ? runningSystem() : await startSystem();
try {
  await photograph(system);
} finally {
  await system.stop();
}

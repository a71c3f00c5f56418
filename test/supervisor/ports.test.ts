import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { portProblems, portsToUse } from '../../src/supervisor/ports.ts';
import { freePort } from '../../src/supervisor/probes.ts';

async function environment(): Promise<Record<string, string>> {
  const variables = [...portsToUse(readConfig({})).keys()];
  const entries = variables.map(async (name) => [name, String(await freePort())] as const);
  return Object.fromEntries(await Promise.all(entries));
}

test('finds nothing to say about free ports', async () => {
  expect(await portProblems(readConfig(await environment()))).toEqual([]);
});

test('names the variable of a port that is taken', async () => {
  const env = await environment();
  const server = createServer().listen(Number(env['TEMPORAL_UI_PORT']), '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const problems = await portProblems(readConfig(env));
  expect(problems).toEqual([
    expect.stringContaining(`TEMPORAL_UI_PORT ${env['TEMPORAL_UI_PORT']}`),
  ]);
});

test('names both variables that ask for the same port', async () => {
  const env = await environment();
  const problems = await portProblems(readConfig({ ...env, SANDBOX_PORT: env['PORT'] }));
  expect(problems).toEqual([expect.stringMatching(/^SANDBOX_PORT and PORT are both/)]);
});

test('asks for no ports of servers that are not started', () => {
  const config = readConfig({ DATABASE_URL: 'postgres://x', TEMPORAL_ADDRESS: 'x:7233' });
  expect([...portsToUse(config).keys()]).toEqual([
    'PORT',
    'SANDBOX_PORT',
    'SANDBOX_ADMIN_PORT',
    'METRICS_PORT',
  ]);
});

// The rig's channel to the supervisor, over real processes (small Node scripts).
import { statSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { askSupervisor } from '../../src/rig/ask-supervisor.ts';
import { channelPath } from '../../src/rig/places.ts';
import { runningProcess } from '../../src/supervisor/home.ts';
import { serveRig } from '../../src/supervisor/rig-channel.ts';
import { SupervisedChild } from '../../src/supervisor/supervised-child.ts';
import { eventually, scriptSpec, temporaryHome } from './temporary-home.ts';

const RUNS = 'setInterval(() => {}, 1000)';

async function rigged() {
  const home = temporaryHome();
  const make = (name: string) => new SupervisedChild(scriptSpec(name, RUNS), home, () => {});
  const children = [make('worker')];
  for (const child of children) child.start();
  const channel = await serveRig(home, { children, spareWorker: () => make('worker_spare') });
  onTestFinished(async () => {
    channel.close();
    await Promise.all(children.map((child) => child.stop()));
  });
  await eventually(() => runningProcess(home, 'worker'));
  return { home, running: (name = 'worker') => runningProcess(home, name)?.pid };
}

test('stops a process, leaves it down, and starts it again', async () => {
  const { home, running } = await rigged();
  const first = running();
  await askSupervisor(home, { do: 'stop', names: ['worker'] });
  expect(running()).toBeUndefined();
  await askSupervisor(home, { do: 'start', names: ['worker'] });
  expect(running()).not.toBe(first);
  expect(running()).toBeDefined();
});

test('kills a process, which is then kept running as after any crash', async () => {
  const { home, running } = await rigged();
  const first = running();
  await askSupervisor(home, { do: 'kill', names: ['worker'] });
  const second = await eventually(() => (running() === first ? undefined : running()));
  expect(second).not.toBe(first);
});

test('ends an outage by itself', async () => {
  const { home, running } = await rigged();
  await askSupervisor(home, { do: 'outage', names: ['worker'], for_ms: 300 });
  expect(running()).toBeUndefined();
  expect(await eventually(running)).toBeDefined();
});

test('has a second worker for as long as it is wanted', async () => {
  const { home, running } = await rigged();
  await askSupervisor(home, { do: 'start_spare_worker' });
  expect(running('worker_spare')).toBeDefined();
  await askSupervisor(home, { do: 'stop_spare_worker' });
  expect(running('worker_spare')).toBeUndefined();
});

test('says what it can’t do', async () => {
  const { home } = await rigged();
  await expect(askSupervisor(home, { do: 'stop', names: ['nobody'] })).rejects.toThrow('nobody');
});

test('is open to the user who runs it, and to nobody else', async () => {
  const { home } = await rigged();
  expect(statSync(channelPath(home)).mode & 0o777).toBe(0o600);
});

// Real processes (small Node scripts) that die, resist and outlive: what a person sees of them is what is asserted.
import { expect, onTestFinished, test } from 'vitest';
import { runningProcess } from '../../src/supervisor/home.ts';
import { stopLeftovers } from '../../src/supervisor/leftovers.ts';
import { restartDelayMs, SupervisedChild } from '../../src/supervisor/supervised-child.ts';
import { spawnLogged } from '../../src/supervisor/spawn-logged.ts';
import { noteProcess } from '../../src/supervisor/home.ts';
import { eventually, scriptSpec, temporaryHome } from './temporary-home.ts';

const RUNS = 'setInterval(() => {}, 1000)';

function supervised(script: string, changes = {}) {
  const home = temporaryHome();
  const notes: string[] = [];
  const spec = scriptSpec('child', script, changes);
  const child = new SupervisedChild(spec, home, (note) => notes.push(note));
  onTestFinished(() => child.hurry());
  child.start();
  return { child, home, notes, running: () => runningProcess(home, 'child') };
}

test('starts a killed process again within 200 ms and says so', async () => {
  const { child, notes, running } = supervised(RUNS);
  const first = await eventually(running);
  const killedAt = performance.now();
  process.kill(first.pid, 'SIGKILL');
  const second = await eventually(() => {
    const now = running();
    return now === undefined || now.pid === first.pid ? undefined : now;
  });
  expect(performance.now() - killedAt).toBeLessThan(1_000);
  expect(restartDelayMs(0)).toBeLessThanOrEqual(200);
  expect(second.pid).not.toBe(first.pid);
  await eventually(() => (notes.length === 2 ? true : undefined));
  expect(notes[0]).toContain('child ended (SIGKILL)');
  expect(notes[1]).toBe('child is back');
  await child.stop();
});

test('pauses longer after each death in a row, at most 5 s', () => {
  const pauses = Array.from({ length: 10 }, (_, deaths) => restartDelayMs(deaths));
  expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
  expect(Math.max(...pauses)).toBe(5_000);
});

test('does not start a stopped process again', async () => {
  const { child, notes, running } = supervised(RUNS);
  await eventually(running);
  await child.stop();
  expect(running()).toBeUndefined();
  expect(notes).toEqual([]);
});

test('stops hard a process that ignores the request', async () => {
  const { child, notes, running } = supervised(`process.on('SIGTERM', () => {}); ${RUNS}`, {
    stopWithinMs: 300,
  });
  await child.ready(10_000);
  const { pid } = await eventually(running);
  await new Promise((resolve) => setTimeout(resolve, 500));
  await child.stop();
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  expect(notes.at(-1)).toContain('is stopped hard');
});

test('gives up on a process that ends again and again, showing the end of its log', async () => {
  const { child } = supervised(`console.error('the reason'); process.exit(3)`, {
    isReady: async () => false,
  });
  await expect(child.ready(20_000)).rejects.toThrow(/ended again and again[\s\S]*the reason/);
  await child.stop();
});

test('stops what an earlier supervisor of the same home left running', async () => {
  const home = temporaryHome();
  const spec = scriptSpec('left', RUNS);
  const { pid = 0 } = spawnLogged(spec, home);
  noteProcess(home, 'left', pid);
  const notes: string[] = [];
  await stopLeftovers(home, [spec], (note) => notes.push(note));
  expect(notes).toEqual([expect.stringContaining(`process ${pid}`)]);
  expect(runningProcess(home, 'left')).toBeUndefined();
});

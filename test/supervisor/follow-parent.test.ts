// A process whose supervisor was killed: started through a middle process that is then killed hard.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';

const module = new URL('../../dist/supervisor/follow-parent.js', import.meta.url).href;

test('ends by itself when the process that started it is killed', async () => {
  const child = `import(${JSON.stringify(module)}).then((m) => { m.exitWithParent(() => process.exit(0)); setInterval(() => {}, 1000); process.send('up'); })`;
  const middle = spawn(process.execPath, [
    '-e',
    `const child = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], detached: true });
     child.once('message', () => console.log(child.pid));`,
  ]);
  const [output] = (await once(middle.stdout, 'data')) as [Buffer];
  const pid = Number(output.toString());
  middle.kill('SIGKILL');
  await expect.poll(() => isRunning(pid), { timeout: 10_000 }).toBe(false);
});

test('keeps no process alive whose work is done', async () => {
  const script = `import(${JSON.stringify(module)}).then((m) => m.exitWithParent(() => {}))`;
  const child = spawn(process.execPath, ['-e', script], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    timeout: 10_000,
  });
  expect(await once(child, 'exit')).toEqual([0, null]);
});

function isRunning(pid: number): boolean {
  if (process.platform === 'linux') return existsSync(`/proc/${pid}`);
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

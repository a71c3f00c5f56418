// What a process holds that can't be collected: its resident memory says more of the collector's patience than of leaks.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** For a system whose processes are to be asked: each of them loads this file first. */
export const REPORTS_HEAP = { NODE_OPTIONS: `--import ${import.meta.url}` };

const MEGABYTE = 1024 * 1024;

/** Megabytes of API and worker, outside the sandboxes of workflows. */
export async function liveMegabytes({ home }) {
  return { api: await askOf(home, 'api'), worker: await askOf(home, 'worker') };
}

async function askOf(home, name) {
  const { pid } = JSON.parse(readFileSync(join(home, 'run', `${name}.json`), 'utf8'));
  const report = reportOf(home, pid);
  rmSync(report, { force: true });
  process.kill(pid, 'SIGUSR2');
  while (!existsSync(report)) await pause(50);
  return Number(readFileSync(report, 'utf8')) / MEGABYTE;
}

const reportOf = (home, pid) => join(home, 'run', `live-bytes-${pid}`);

// In the process that is asked.
if (process.env.HOLDFAST_HOME !== undefined && process.argv[1]?.endsWith('.js')) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  process.on('SIGUSR2', () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    const report = reportOf(process.env.HOLDFAST_HOME, process.pid);
    writeFileSync(`${report}.new`, String(heapUsed + external));
    renameSync(`${report}.new`, report);
  });
}

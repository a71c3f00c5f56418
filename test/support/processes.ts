// Our own processes as a deployment runs them: the compiled files, an environment, signals. Their output goes to a file, and its end
// into the error of a process that ended by itself.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { until } from './until.ts';

const BIN = fileURLToPath(new URL('../../dist/bin/', import.meta.url));
const TAIL_LINES = 15;

/** What a process is told. */
export type Env = Readonly<Record<string, string>>;

let count = 0;

export interface TestProcess {
  readonly pid: number;
  /** Resolves with what ended it: a signal's name, or `exit code 0`. */
  readonly ended: Promise<string>;
  isRunning(): boolean;
  signal(name: NodeJS.Signals): void;
  /** Ends it as a crash does. */
  kill(): Promise<string>;
  /** Ends it as a deployment does, and waits for it to finish its work. */
  stop(): Promise<string>;
  /** The end of what it wrote. */
  log(): string;
  fullLog(): string;
}

/** Starts `dist/bin/<name>.js`; it ends with this process at the latest. */
export function startProcess(name: string, env: Env, folder: string): TestProcess {
  count += 1;
  const path = join(folder, `${name}-${count}.log`);
  const log = openSync(path, 'a');
  const child = spawn(process.execPath, ['--enable-source-maps', join(BIN, `${name}.js`)], {
    // The channel lets it notice that this process is gone.
    stdio: ['ignore', log, log, 'ipc'],
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  closeSync(log);
  let running = true;
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
  }).finally(() => (running = false));
  const endBy = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  return {
    pid: child.pid ?? 0,
    ended,
    isRunning: () => running,
    signal: (signal) => void child.kill(signal),
    kill: () => endBy('SIGKILL'),
    stop: () => endBy('SIGTERM'),
    log: () => readFileSync(path, 'utf8').trimEnd().split('\n').slice(-TAIL_LINES).join('\n'),
    fullLog: () => readFileSync(path, 'utf8'),
  };
}

/** Waits until a process serves `url`; throws with its log where it ends instead. */
export async function untilServing(one: TestProcess, url: string): Promise<void> {
  await until(`${url} answers`, async () => {
    if (!one.isRunning()) throw new Error(`a process ended while it started:\n${one.log()}`);
    const answer = await request(url, { reset: true }).catch(() => undefined);
    await answer?.body.dump();
    return answer?.statusCode === 200;
  });
}

/** Waits until a process has logged that it is up. */
export async function untilUp(one: TestProcess): Promise<void> {
  await until('the process is up', () => {
    if (!one.isRunning()) throw new Error(`a process ended while it started:\n${one.log()}`);
    return one.fullLog().includes('"msg":"up"');
  });
}

// Starts a process whose output goes to its own log file, apart from the terminal.
import { spawn, type ChildProcess, type IOType } from 'node:child_process';
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import type { Command } from './child-spec.ts';
import { forgetProcess, logPath, noteProcess } from './home.ts';

/** One older file is kept, so a log takes at most about twice this. */
const LOG_ROTATE_BYTES = 64 * 1024 * 1024;
const TAIL_LINES = 12;

/** Starts the process in its own group: Ctrl-C in the terminal reaches only the supervisor, which stops things in order. */
export function spawnLogged(
  command: Command,
  home: string,
  stdin: IOType = 'ignore',
): ChildProcess {
  const path = logPath(home, command.name);
  rotateLog(path);
  const log = openSync(path, 'a');
  try {
    return spawn(command.command, [...command.args], {
      stdio: [stdin, log, log, ...(command.followsParent ? (['ipc'] as const) : [])],
      detached: true,
      ...(command.env === undefined ? {} : { env: command.env }),
      ...(command.cwd === undefined ? {} : { cwd: command.cwd }),
      ...command.user,
    });
  } finally {
    closeSync(log);
  }
}

export interface RunOptions {
  /** Given on standard input. */
  readonly input?: string;
  /** Ends the process early. */
  readonly stop?: AbortSignal | undefined;
}

/** Runs a process that ends by itself; throws with the end of its log if it failed. */
export async function runToEnd(
  command: Command,
  home: string,
  { input, stop }: RunOptions = {},
): Promise<void> {
  const child = spawnLogged(command, home, input === undefined ? 'ignore' : 'pipe');
  const endEarly = (): void => endGroup(child);
  stop?.addEventListener('abort', endEarly, { once: true });
  if (child.pid !== undefined) noteProcess(home, command.name, child.pid);
  // A process that ends without reading its input is judged by how it ended.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input);
  const reason = await ended(child);
  stop?.removeEventListener('abort', endEarly);
  forgetProcess(home, command.name);
  if (reason === ENDED_WELL) return;
  throw new Error(
    `${command.name} failed (${reason}). The end of ${logPath(home, command.name)}:\n${logTail(home, command.name)}`,
  );
}

/** Its own children too: initdb, for one, waits for those that it started. */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGTERM');
  } catch {
    // It has ended.
  }
}

/** Only between runs of a child: a file in use keeps its name. */
function rotateLog(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_ROTATE_BYTES) renameSync(path, `${path}.1`);
}

/** The last lines of a child's log, for a person who has to find out why it would not start. */
export function logTail(home: string, name: string): string {
  try {
    const lines = readFileSync(logPath(home, name), 'utf8').trimEnd().split('\n');
    return lines.slice(-TAIL_LINES).join('\n');
  } catch {
    return '(no log)';
  }
}

const ENDED_WELL = 'exit code 0';

/** Resolves once the process has ended, with what a person would call the reason. */
export function ended(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`could not be started: ${error.message}`));
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
}

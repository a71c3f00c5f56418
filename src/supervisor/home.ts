// The folder of one copy's state: who runs it, which processes belong to it, where their logs go.
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSameProcess, processIdentity } from './process-identity.ts';

/** A process as noted in `<home>/run/<name>.json`. */
export interface ProcessNote {
  readonly pid: number;
  readonly identity: string;
}

/** Another supervisor runs this home; the message names its pid. */
export class HomeInUseError extends Error {
  override readonly name = 'HomeInUseError';
}

export const logPath = (home: string, name: string): string => join(home, 'logs', `${name}.log`);
export const credentialsPath = (home: string): string => join(home, 'credentials.json');
const notePath = (home: string, name: string): string => join(home, 'run', `${name}.json`);

/** Creates the folders. Others may pass through the home (Postgres runs as another user where we are root). */
export function createHome(home: string): void {
  for (const folder of [home, join(home, 'run'), join(home, 'logs')]) {
    mkdirSync(folder, { recursive: true, mode: 0o755 });
  }
}

/** Claims the home for this process until the returned function is called; throws `HomeInUseError` if somebody has it. */
export function claimHome(home: string): () => void {
  const path = notePath(home, 'supervisor');
  const mine = `${path}.${process.pid}`;
  writeFileSync(mine, JSON.stringify(noteOf(process.pid)));
  try {
    while (!linked(mine, path)) removeStaleClaim(home, path);
  } finally {
    rmSync(mine, { force: true });
  }
  return () => rmSync(path, { force: true });
}

/** A hard link is made or not made at once, with its content: no reader meets an empty claim. */
function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function removeStaleClaim(home: string, path: string): void {
  const holder = readNote(path);
  if (holder !== undefined && isSameProcess(holder.pid, holder.identity)) {
    throw new HomeInUseError(
      `${home} is in use: Holdfast runs there already as process ${holder.pid}. ` +
        'Stop it first, or give this copy its own HOLDFAST_HOME and ports.',
    );
  }
  // Moved aside before it is removed: of two that find the same stale claim only one moves it.
  const aside = `${path}.stale-${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const moved = readNote(aside);
  if (moved !== undefined && moved.pid !== holder?.pid) linked(aside, path);
  rmSync(aside, { force: true });
}

/** Notes a running child, so that a start after a crash can recognise it. */
export function noteProcess(home: string, name: string, pid: number): void {
  const path = notePath(home, name);
  writeFileSync(`${path}.new`, JSON.stringify(noteOf(pid)));
  renameSync(`${path}.new`, path);
}

export function forgetProcess(home: string, name: string): void {
  rmSync(notePath(home, name), { force: true });
}

/** The noted process if it is still the one that was noted and still runs. */
export function runningProcess(home: string, name: string): ProcessNote | undefined {
  const note = readNote(notePath(home, name));
  return note !== undefined && isSameProcess(note.pid, note.identity) ? note : undefined;
}

function noteOf(pid: number): ProcessNote {
  return { pid, identity: processIdentity(pid) ?? 'ended' };
}

function readNote(path: string): ProcessNote | undefined {
  try {
    const { pid, identity } = JSON.parse(readFileSync(path, 'utf8')) as Partial<ProcessNote>;
    return pid === undefined || identity === undefined ? undefined : { pid, identity };
  } catch {
    return undefined;
  }
}

// What every set-up step shares: where the project is, hashes, and the lock that keeps two copies of the set-up apart.
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** Absolute path of the project; every relative path below starts here, whatever the caller's folder. */
export const projectFolder = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Downloads and locks; safe to delete at any time when nothing runs. */
export const cacheFolder = join(projectFolder, '.cache');

/** Lower-case hex SHA-256 of bytes or text. */
export const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** The file's text, or undefined where there is none. */
export function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** A sentence about the set-up, on standard error: standard output belongs to the command itself. */
export const say = (sentence) => process.stderr.write(`set-up: ${sentence}\n`);

/** An install or a build that takes longer has died without removing its lock. */
const LOCK_AGE_MS = 15 * 60_000;
/** Between creating a lock and writing the pid into it; far longer than a process needs for that. */
const LOCK_UNSIGNED_MS = 5_000;

/**
 * Runs `work` while no other process of this project runs work under the same lock; waits for it otherwise.
 * Locks of processes that no longer exist are taken over.
 */
export async function withLock(name, work) {
  const path = join(cacheFolder, `${name}.lock`);
  // An install that this user may only read is complete already, or the work will say what it can't write.
  if (!isWritable()) return work();
  for (let waited = 0; !takeLock(path); waited += 1) {
    if (waited === 0) say(`waiting for another copy that is at work (${path})`);
    if (lockIsStale(path)) rmSync(path, { force: true });
    else await sleep(200);
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

function isWritable() {
  try {
    mkdirSync(cacheFolder, { recursive: true });
    accessSync(cacheFolder, constants.W_OK);
    return true;
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(error.code)) return false;
    throw error;
  }
}

function takeLock(path) {
  try {
    const lock = openSync(path, 'wx');
    writeSync(lock, String(process.pid));
    closeSync(lock);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function lockIsStale(path) {
  const holder = readIfThere(path);
  if (holder === undefined) return false;
  const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  if (holder === '') return age > LOCK_UNSIGNED_MS;
  return age > LOCK_AGE_MS || !isAlive(Number(holder));
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

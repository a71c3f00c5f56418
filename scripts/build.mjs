// Source to dist/: the compiled processes and the pre-built workflow bundle. Each part is rebuilt only when its inputs
// changed, and a build that fails leaves the last good dist/ in place.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { projectFolder, readIfThere, say, sha256, withLock } from './setup/files.mjs';
import { failWith, isStartedFile, setUp } from './setup.mjs';

const dist = join(projectFolder, 'dist');
/** A neighbour of dist/, so that the paths inside source maps stay right after the rename. */
const unfinished = join(projectFolder, 'dist.unfinished');
const BUNDLE = 'workflow-bundle.js';
const BUNDLE_FACTS = 'workflow-bundle.json';
const BUILD_STAMP = '.build-stamp';
const BUNDLE_STAMP = '.bundle-stamp';

/** Compiles and bundles unless dist/ is of these very inputs. Throws an Error whose message is for people. */
export async function build() {
  await withLock('build', async () => {
    const stamp = stampOf([
      'src',
      'scripts/build.mjs',
      'tsconfig.json',
      'tsconfig.build.json',
      'package-lock.json',
    ]);
    if (readIfThere(join(dist, BUILD_STAMP)) === stamp) return;
    say('building');
    rmSync(unfinished, { recursive: true, force: true });
    compile();
    // What package.json offers as a command.
    chmodSync(join(unfinished, 'bin', 'holdfast.js'), 0o755);
    await bundleWorkflows();
    writeFileSync(join(unfinished, BUILD_STAMP), stamp);
    rmSync(dist, { recursive: true, force: true });
    renameSync(unfinished, dist);
  });
}

/** One hash over the names and bytes of files and folders, in an order that no file system decides. */
function stampOf(paths) {
  const files = paths.flatMap((path) => filesUnder(join(projectFolder, path))).toSorted();
  return sha256(
    files
      .map((file) => `${relative(projectFolder, file)} ${sha256(readFileSync(file))}\n`)
      .join(''),
  );
}

function filesUnder(path) {
  if (!existsSync(path)) return [];
  try {
    return readdirSync(path).flatMap((name) => filesUnder(join(path, name)));
  } catch (error) {
    if (error.code === 'ENOTDIR') return [path];
    throw error;
  }
}

function compile() {
  const tsc = join(projectFolder, 'node_modules', 'typescript', 'bin', 'tsc');
  const result = spawnSync(
    process.execPath,
    [tsc, '-p', 'tsconfig.build.json', '--outDir', unfinished],
    {
      cwd: projectFolder,
      stdio: ['ignore', process.stderr, process.stderr],
    },
  );
  if (result.status !== 0)
    throw new Error('the source does not compile; what tsc said stands above');
}

/** The bundle reaches only workflows and domain (the import gate holds it to that), so only they decide its stamp. */
async function bundleWorkflows() {
  const workflowsPath = join(projectFolder, 'src', 'workflows', 'index.ts');
  const stamp = stampOf(['src/workflows', 'src/domain', 'scripts/build.mjs', 'package-lock.json']);
  if (readIfThere(join(dist, BUNDLE_STAMP)) === stamp) {
    for (const name of [BUNDLE, BUNDLE_FACTS, BUNDLE_STAMP])
      copyFileSync(join(dist, name), join(unfinished, name));
    return;
  }
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  // The bundler reports what is wrong through its logger only; the error it throws says just that something was.
  const logger = new DefaultLogger('WARN', (entry) => process.stderr.write(`${entry.message}\n`));
  const { code } = await bundleWorkflowCode({ workflowsPath, logger });
  writeFileSync(join(unfinished, BUNDLE), code);
  writeFileSync(join(unfinished, BUNDLE_FACTS), `${JSON.stringify(factsOf(code), null, 2)}\n`);
  writeFileSync(join(unfinished, BUNDLE_STAMP), stamp);
}

/** What a worker compares before it loads the bundle: another SDK version would fail in the middle of a workflow. */
function factsOf(code) {
  const manifest = join(projectFolder, 'node_modules', '@temporalio', 'worker', 'package.json');
  return { sdkVersion: JSON.parse(readFileSync(manifest, 'utf8')).version, sha256: sha256(code) };
}

if (isStartedFile(import.meta.url)) {
  // A build needs packages but no servers, so none are looked for.
  await setUp({ ...process.env, DATABASE_URL: '-', TEMPORAL_ADDRESS: '-' })
    .then(build)
    .catch(failWith);
}

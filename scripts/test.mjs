// `npm test`: set-up, build, then vitest with whatever arguments were given. The last line counts what ran, and the exit
// code is 0 only if something ran and nothing failed.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from './build.mjs';
import { projectFolder, readIfThere } from './setup/files.mjs';
import { failWith, setUp } from './setup.mjs';

process.chdir(projectFolder);
try {
  await setUp();
  await build();
} catch (error) {
  failWith(error);
}
const folder = mkdtempSync(join(tmpdir(), 'holdfast-test-report-'));
const report = join(folder, 'report.json');
const { status } = runVitest(process.argv.slice(2));
const counts = countTests(readIfThere(report));
rmSync(folder, { recursive: true, force: true });
// A run can fail outside of any test: an unhandled rejection, servers that don't start, a wrong argument.
if (status !== 0 && counts.failed === 0) counts.failed = 1;
const skipped = counts.skipped === 0 ? '' : `, ${counts.skipped} skipped`;
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed${skipped}\n`);

function runVitest(args) {
  const vitest = join(projectFolder, 'node_modules', 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  return spawnSync(process.execPath, [vitest, 'run', ...reporters, ...args], {
    cwd: projectFolder,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

/** From vitest's JSON report; a file that could not even be loaded counts as one failure. */
function countTests(json) {
  if (json === undefined) return { passed: 0, failed: 0, skipped: 0 };
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } =
    JSON.parse(json);
  const broken = testResults.filter(
    (file) =>
      file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  );
  return {
    passed: numPassedTests,
    failed: numFailedTests + broken.length,
    skipped: numPendingTests + numTodoTests,
  };
}

// `npm run record:histories`: runs every scenario of test/replay/record-histories.ts against real servers and writes its histories into
// test/replay/histories/. To be run after each change to src/workflows, and its files committed beside the older ones.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from './build.mjs';
import { projectFolder } from './setup/files.mjs';
import { failWith, setUp } from './setup.mjs';

process.chdir(projectFolder);
try {
  await setUp();
  await build();
} catch (error) {
  failWith(error);
}
const vitest = join(projectFolder, 'node_modules', 'vitest', 'vitest.mjs');
const config = join('test', 'replay', 'vitest.record.config.ts');
const { status } = spawnSync(process.execPath, [vitest, 'run', '--config', config], {
  stdio: ['ignore', 'inherit', 'inherit'],
});
process.exitCode = status ?? 1;

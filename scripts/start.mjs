// `npm start`: set-up, build, then the supervisor in this same process, so that Ctrl-C has one receiver.
import { build } from './build.mjs';
import { projectFolder } from './setup/files.mjs';
import { failWith, setUp } from './setup.mjs';

// Relative paths in the configuration mean the project, from wherever this was called.
process.chdir(projectFolder);
try {
  const { temporalCli } = await setUp();
  await build();
  const { start } = await import('../dist/bin/start.js');
  await start(temporalCli);
} catch (error) {
  failWith(error);
}

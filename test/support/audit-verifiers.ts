// The two verifiers as somebody runs them: the command line of the project, and the script that needs only Python.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../../dist/bin/holdfast.js', import.meta.url));
const SCRIPT = fileURLToPath(new URL('../../tools/verify_audit.py', import.meta.url));

export interface Verdict {
  readonly exit: number;
  /** The last line that it wrote. */
  readonly last: string;
  readonly stderr: string;
}

/** Nothing of the caller's environment but the path, so that no key of this machine is found by chance. */
function run(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Verdict> {
  const options = { env: { PATH: process.env['PATH'] ?? '', ...env } };
  return new Promise((resolve) => {
    const child = execFile(command, [...args], options, (_, stdout, stderr) =>
      resolve({
        exit: child.exitCode ?? -1,
        last: stdout.trimEnd().split('\n').at(-1) ?? '',
        stderr,
      }),
    );
  });
}

export const holdfast = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  run(process.execPath, [CLI, ...args], env);

export const python = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  run('python3', [SCRIPT, ...args], env);

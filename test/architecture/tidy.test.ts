// What every file is held to, measured on the text.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
const LONGEST_FILE = 300;

/** Files of the project under these folders: what git knows, or would know once added. */
function filesIn(...paths: string[]): string[] {
  const listed = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '--', ...paths],
    { cwd: PROJECT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );
  return listed.split('\0').filter((file) => file !== '' && existsSync(join(PROJECT, file)));
}

const textOf = (file: string): string => readFileSync(join(PROJECT, file), 'utf8');
const CODE = /\.(ts|mts|cts|js|mjs|cjs|sql|sh)$/;
const TEXT = /\.(ts|mts|cts|js|mjs|cjs|sql|sh|md|json|ya?ml|html|css)$/;

/** Lines that hold what they must not, as `file:line`. */
function linesWith(pattern: RegExp, files: readonly string[]): string[] {
  return files.flatMap((file) =>
    textOf(file)
      .split('\n')
      .flatMap((line, n) => (pattern.test(line) ? [`${file}:${n + 1}`] : [])),
  );
}

const ours = filesIn('src', 'test', 'scripts', 'migrations', 'bench').filter(
  (file) => !file.startsWith('test/vectors/'),
);
const code = ours.filter((file) => CODE.test(file));

describe('every file', () => {
  it('is found at all', () => {
    expect(code).toContain('src/workflows/index.ts');
    expect(code).toContain('test/architecture/tidy.test.ts');
  });

  it(`of the source has at most ${LONGEST_FILE} lines`, () => {
    const long = filesIn('src').filter(
      (file) => textOf(file).split('\n').length > LONGEST_FILE + 1,
    );
    expect(long).toEqual([]);
  });

  it('is finished: no notes about work to be done', () => {
    // Put together here, so that this file doesn't find itself.
    const notes = new RegExp(
      `\b(${[
        ['TO', 'DO'],
        ['FIX', 'ME'],
      ]
        .map((one) => one.join(''))
        .join('|')})\b`,
    );
    expect(linesWith(notes, code)).toEqual([]);
  });

  it('of the tests runs: none is left out, none keeps the others out', () => {
    const left = /\b(?:it|test|describe|suite|bench)(?:\.\w+)*\.(?:only|skip|todo)\b/;
    expect(
      linesWith(
        left,
        filesIn('test').filter((file) => CODE.test(file)),
      ),
    ).toEqual([]);
  });

  it('works on any machine: no absolute paths of one', () => {
    const machine = /(?<![\w.$}/])\/(?:work|home|Users|root)\/[\w.-]/;
    const files = [...ours, ...filesIn('docs', '*.md', '*.json', '*.ts', '.ci')].filter(
      (file) => (TEXT.test(file) || file === '.ci/run') && file !== 'package-lock.json',
    );
    expect(linesWith(machine, files)).toEqual([]);
  });

  it('promises what can be kept: two words appear nowhere', () => {
    const promise = new RegExp(['exactly', 'once'].join('[\\s-]+'), 'i');
    const files = filesIn('src', 'docs', 'migrations', '*.md').filter((file) => TEXT.test(file));
    expect(files).toContain('src/workflows/index.ts');
    // Over the whole text, because a line may end between them.
    expect(
      files.filter((file) => promise.test(textOf(file).replaceAll(/\n\s*(\/\/|\*|--|>)?/g, ' '))),
    ).toEqual([]);
  });
});

describe('the linter', () => {
  it('refuses a function of more than 70 lines in the source', () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-lint-'));
    try {
      mkdirSync(join(folder, 'src'));
      cpSync(join(PROJECT, '.oxlintrc.json'), join(folder, '.oxlintrc.json'));
      symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
      writeFileSync(join(folder, 'src', 'long.ts'), functionOf(70));
      expect(lint(folder).status).toBe(0);
      writeFileSync(join(folder, 'src', 'long.ts'), functionOf(71));
      const { status, stdout } = lint(folder);
      expect(stdout).toContain('max-lines-per-function');
      expect(status).not.toBe(0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('finds none in ours', () => {
    const { stdout } = lint(PROJECT);
    expect(stdout).toContain('Finished in');
    expect(stdout).not.toContain('max-lines');
  });
});

/** Source of a function that takes this many lines. */
function functionOf(lines: number): string {
  const body = '  n += 1;\n'.repeat(lines - 3);
  return `export function long(n: number): number {\n${body}  return n;\n}\n`;
}

/** Without types, which are another check's part. */
function lint(folder: string) {
  const oxlint = join(PROJECT, 'node_modules', 'oxlint', 'bin', 'oxlint');
  return spawnSync(process.execPath, [oxlint, '--deny-warnings', 'src'], {
    cwd: folder,
    encoding: 'utf8',
  });
}

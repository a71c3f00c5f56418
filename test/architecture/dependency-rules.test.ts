// Who may import whom. The rules hold for the source, and each kind of violation turns them red.
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
const CLI = join(PROJECT, 'node_modules', 'dependency-cruiser', 'bin', 'dependency-cruise.mjs');
const CONFIG = '.dependency-cruiser.cjs';

function violationsIn(folder: string): { status: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, '--config', CONFIG, 'src'], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, text: `${stdout}${stderr}` };
}

describe('the source', () => {
  it('keeps the rules', () => {
    expect(violationsIn(PROJECT)).toMatchObject({
      status: 0,
      text: expect.stringContaining('no dependency violations found'),
    });
  });
});

describe('a copy with violations', () => {
  let copy: string;
  let report: { status: number | null; text: string };

  /** A line at the end of a file, the rule that it breaks, and the module that the report names. */
  const PLANTED: readonly (readonly [file: string, line: string, rule: string, named?: string])[] =
    [
      [
        'workflows/reconcile-operation.workflow.ts',
        "import 'zod';",
        'workflows-imports-only-its-row',
      ],
      [
        'workflows/activity-options.ts',
        "import '../store/pool.ts';",
        'workflows-imports-only-its-row',
      ],
      // Out of reach of a rule on folders: the entry of the bundle is named, since it reaches the module.
      [
        'domain/reconcile-workflow-id.ts',
        "import 'node:os';",
        'workflow-bundle-stays-small-and-deterministic',
        'workflows/index.ts',
      ],
      ['domain/money.ts', "import '../store/pool.ts';", 'domain-imports-only-its-row'],
      ['store/pool.ts', "import '../api/app.ts';", 'store-imports-only-its-row'],
      ['providers/http-client.ts', "import '../bin/api.ts';", 'nobody-imports-bin'],
      ['config.ts', "import 'vitest';", 'no-development-packages-in-src'],
    ];

  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'holdfast-rules-'));
    for (const part of ['src', CONFIG, 'package.json', 'tsconfig.json']) {
      cpSync(join(PROJECT, part), join(copy, part), { recursive: true });
    }
    symlinkSync(join(PROJECT, 'node_modules'), join(copy, 'node_modules'));
    for (const [file, line] of PLANTED) appendFileSync(join(copy, 'src', file), `${line}\n`);
    report = violationsIn(copy);
  });
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  it.each(PLANTED)('is refused for src/%s with %s', (file, _line, rule, named) => {
    expect(report.status).not.toBe(0);
    const found = report.text.split('\n').filter((one) => one.includes(rule ?? ''));
    expect(found.some((one) => one.includes(`src/${named ?? file}`))).toBe(true);
  });
});

// Documents that promise something name the test that shows it: file and name. A test that was renamed or dropped must not leave its
// promise behind.
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const DOCUMENTS = [
  'docs/threats.md',
  'docs/guarantees.md',
  'docs/personal-data.md',
  'docs/audit.md',
  'ARCHITECTURE.md',
] as const;
const TABLES = new Set(['docs/threats.md', 'docs/guarantees.md']);

const textOf = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

interface Named {
  readonly file: string;
  /** As `it` has them; none where the file stands alone. */
  readonly names: readonly string[];
}

/** `test/….test.ts` "one name", "another": each file with the names behind it, line breaks and indentation as blanks. */
function testsIn(text: string): Named[] {
  const flat = text.replaceAll(/\s+/g, ' ');
  const places = flat.matchAll(/`(test\/[^`]+\.test\.ts)`((?:,? ?"[^"]+")*)/g);
  return [...places].map(([, file = '', names = '']) => ({
    file,
    names: [...names.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name),
  }));
}

/** Names as they stand in the source, in any of the quotes of TypeScript. */
function hasTest(source: string, name: string): boolean {
  const spellings = [`'${name}'`, `"${name}"`, `\`${name}\``, `'${name.replaceAll("'", "\\'")}'`];
  return spellings.some((one) => source.includes(one));
}

/** What is named and isn't there, as a reader would look for it. */
function missingIn(text: string): string[] {
  return testsIn(text).flatMap(({ file, names }) => {
    if (!existsSync(new URL(`../../${file}`, import.meta.url))) return [file];
    const source = textOf(file);
    return names.filter((name) => !hasTest(source, name)).map((name) => `${file} "${name}"`);
  });
}

describe('a test that a document names', () => {
  it.each(DOCUMENTS)('exists, with the file and the name that it is given in %s', (path) => {
    const text = textOf(path);
    expect(missingIn(text)).toEqual([]);
    if (TABLES.has(path)) expect(testsIn(text).length).toBeGreaterThan(40);
  });

  it('would be missed where its file or its name is another', () => {
    const there = '`test/unit/policy.test.ts` "never allows what none speaks of"';
    expect(missingIn(there)).toEqual([]);
    expect(missingIn(`${there}, "never\n  allows anything"`)).toEqual([
      'test/unit/policy.test.ts "never allows anything"',
    ]);
    expect(missingIn('`test/unit/no.test.ts` "x"')).toEqual(['test/unit/no.test.ts']);
  });
});

describe.each([...TABLES])('each line of a table of %s', (path) => {
  const rows = textOf(path)
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|[ -]+\|[ -|]+$/.test(line))
    .filter((line) => !/\| shown by +\|$/.test(line));

  it('names a test', () => {
    expect(rows.length).toBeGreaterThan(40);
    expect(rows.filter((row) => testsIn(row).every(({ names }) => names.length === 0))).toEqual([]);
  });

  it('names files that exist', () => {
    const named = rows.flatMap((row) => [...row.matchAll(/`((?:src|migrations)\/[^`]+)`/g)]);
    const missing = named
      .map(([, file = '']) => file)
      .filter((file) => !existsSync(new URL(`../../${file}`, import.meta.url)));
    expect(missing).toEqual([]);
  });
});

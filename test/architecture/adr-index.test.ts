// Decisions are numbered without gaps and listed in the index.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const FOLDER = new URL('../../docs/adr/', import.meta.url);
const NAME = /^(\d{4})-[a-z0-9-]+\.md$/;
const files = existsSync(FOLDER)
  ? readdirSync(FOLDER)
      .filter((name) => name !== 'README.md')
      .toSorted()
  : [];

describe('docs/adr', () => {
  it('holds records whose numbers run from 0001 without a gap', () => {
    const numbers = files.map((name) => NAME.exec(name)?.[1] ?? name);
    expect(numbers).toEqual(files.map((_, n) => String(n + 1).padStart(4, '0')));
  });

  it('has an index that links every record, and no other', () => {
    if (files.length === 0) return;
    const index = readFileSync(new URL('README.md', FOLDER), 'utf8');
    const linked = [...index.matchAll(/\((?:\.\/)?(\d{4}-[^)#]+\.md)\)/g)].map(
      ([, file = '']) => file,
    );
    expect(new Set(linked)).toEqual(new Set(files));
  });

  it('has a title in every record that carries its number', () => {
    for (const name of files) {
      const [title = ''] = readFileSync(new URL(name, FOLDER), 'utf8').split('\n');
      const number = Number(name.slice(0, 4));
      expect({ name, title }).toEqual({
        name,
        title: expect.stringMatching(new RegExp(`^# (ADR[- ])?0*${number}\\b`)),
      });
    }
  });
});

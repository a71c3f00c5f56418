import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { signingKeyOf, verifierOf } from '../../src/signing/configured-keys.ts';
import { ensureKeyPair, type KeyPlaces } from '../../src/signing/keys.ts';

function places(): KeyPlaces {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-keys-'));
  return { privateKeyFile: join(home, 'desk.pem'), publicKeyFolder: join(home, 'desk.public') };
}

test('keys that are there are read', () => {
  const where = places();
  const { kid } = ensureKeyPair(where);
  expect(signingKeyOf('desk', where).kid).toBe(kid);
  expect([...verifierOf('desk', where).publicKeys.keys()]).toEqual([kid]);
});

test('a process that lacks its private key stops with a sentence that names the variable', () => {
  const where = places();
  expect(() => signingKeyOf('desk', where)).toThrow(/^configuration: DESK_KEY_FILE: .+desk\.pem/);
  writeFileSync(where.privateKeyFile, 'no key');
  expect(() => signingKeyOf('audit', where)).toThrow(/^configuration: AUDIT_KEY_FILE: /);
});

test('a process that can believe nobody stops as well', () => {
  const where = places();
  expect(() => verifierOf('desk', where)).toThrow(/^configuration: DESK_PUBLIC_KEYS: /);
  mkdirSync(where.publicKeyFolder);
  expect(() => verifierOf('desk', where)).toThrow(/holds no \.pem file/);
});

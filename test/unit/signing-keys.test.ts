import { mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ensureKeyPair, readVerifier, type KeyPlaces } from '../../src/signing/keys.ts';

function places(): KeyPlaces {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-keys-'));
  return { privateKeyFile: join(home, 'desk.pem'), publicKeyFolder: join(home, 'desk.public') };
}

test('a signature is good for its text, by its key, and for nothing else', () => {
  const where = places();
  const key = ensureKeyPair(where);
  const other = ensureKeyPair(places());
  const verifier = readVerifier(where.publicKeyFolder);
  const signature = key.sign('a decision');
  expect(verifier.verify(key.kid, 'a decision', signature)).toBe(true);
  expect(verifier.verify(key.kid, 'a decision.', signature)).toBe(false);
  expect(verifier.verify(key.kid, 'a decision', other.sign('a decision'))).toBe(false);
  expect(verifier.verify(other.kid, 'a decision', other.sign('a decision'))).toBe(false);
  expect(verifier.verify(key.kid, 'a decision', 'nonsense')).toBe(false);
});

test('a signature has one spelling: padding, blanks, bits that mean nothing and other alphabets make it none', () => {
  const where = places();
  const key = ensureKeyPair(where);
  const verifier = readVerifier(where.publicKeyFolder);
  const signature = key.sign('a decision');
  const bytes = Buffer.from(signature, 'base64url');
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = digits.indexOf(signature.at(-1) ?? '');
  const others = [
    `${signature}==`,
    `${signature}\n`,
    ` ${signature}`,
    `${signature}AA`,
    signature.slice(0, -1) + digits[last + 1],
    bytes.toString('base64'),
    bytes.toString('hex'),
    bytes.subarray(0, 63).toString('base64url'),
    '',
  ];
  for (const other of others) {
    // The bytes alone would do: it is the spelling that is refused.
    expect(verifier.verify(key.kid, 'a decision', other)).toBe(false);
  }
  expect(verifier.verify(key.kid, 'a decision', signature)).toBe(true);
});

test('a private key is read by its owner alone', () => {
  const where = places();
  ensureKeyPair(where);
  expect(statSync(where.privateKeyFile).mode & 0o777).toBe(0o600);
});

test('a key that is there is kept, and a rotated one can still be checked', () => {
  const where = places();
  const first = ensureKeyPair(where);
  expect(ensureKeyPair(where).kid).toBe(first.kid);
  const next = ensureKeyPair({ ...where, privateKeyFile: `${where.privateKeyFile}.next` });
  const verifier = readVerifier(where.publicKeyFolder);
  expect(verifier.verify(first.kid, 'old', first.sign('old'))).toBe(true);
  expect(verifier.verify(next.kid, 'new', next.sign('new'))).toBe(true);
});

import { describe, expect, it } from 'vitest';
import { sha256Bytes, sha256Hex } from '../../src/domain/sha256.ts';

describe('SHA-256', () => {
  it('gives the digests of FIPS 180-4 for "abc" and for nothing', () => {
    expect(sha256Hex('abc')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
    expect(sha256Hex('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  });

  it('hashes the UTF-8 bytes of a text', () => {
    expect(sha256Hex('é😂')).toBe(sha256Hex(new TextEncoder().encode('é😂')));
    expect(Buffer.from(sha256Bytes('é😂')).toString('hex')).toBe(sha256Hex('é😂'));
  });
});

// The one place in the domain that hashes. SHA-256 is a function of its input like any other; Node's is used because a
// second implementation could only be slower or wrong. Not importable from workflow code: the bundle has no node:crypto.
import { createHash, hash } from 'node:crypto';

/** SHA-256 of a text's UTF-8 bytes, or of the bytes given. */
export function sha256Bytes(text: string | Uint8Array): Uint8Array {
  return createHash('sha256').update(text).digest();
}

/** SHA-256 as 64 lower-case hexadecimal digits. In one call, which takes half the time for short texts. */
export function sha256Hex(text: string | Uint8Array): string {
  return hash('sha256', text, 'hex');
}

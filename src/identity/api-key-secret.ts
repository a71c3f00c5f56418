// Secrets of API keys. Shown one time to whoever asked for the key; the database keeps a hash.
import { randomBytes } from 'node:crypto';

/** 256 random bits behind a prefix by which secret scanners can tell what they have found. */
export function newApiKeySecret(): string {
  return `hf_${randomBytes(32).toString('base64url')}`;
}

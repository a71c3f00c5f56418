// The token that every write of an operation carries, fixed at the claim (the public contract, "Connections and providers").
import { canonicalJson } from './canonical-json.ts';
import { sha256Bytes } from './sha256.ts';

/** Whose token it is, and what the connection and its capability card let it be. */
export interface ProviderTokenInput {
  /** Two installations that share a provider account must not make one token. */
  readonly installationId: string;
  readonly accountId: string;
  readonly key: string;
  /** Whether the connection serves this account alone; else another account's equal key would meet it at the provider. */
  readonly ownAccountConnection: boolean;
  /** Whether the capability card lets this key stand as a token. */
  readonly allows: (key: string) => boolean;
}

/** The idempotency key itself where it can be, else a lower-case UUID that the same input always gives. */
export function providerTokenFor(input: ProviderTokenInput): string {
  const { installationId, accountId, key, ownAccountConnection, allows } = input;
  if (ownAccountConnection && allows(key)) return key;
  // As a JSON array, because joined texts would let one part end inside another.
  return uuidFrom(sha256Bytes(canonicalJson([installationId, accountId, key])));
}

/** The first 16 bytes in the shape of RFC 9562 version 4: what providers that check for a UUID accept. */
function uuidFrom(digest: Uint8Array): string {
  const bytes = digest.slice(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

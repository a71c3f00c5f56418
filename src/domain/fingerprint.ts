// What makes two requests the same request (the public contract, "Fingerprint"). No header enters it, and all doors
// (REST, MCP, CLI) give the same one.
import { canonicalJson } from './canonical-json.ts';
import { sha256Hex } from './sha256.ts';
import type { JsonValue } from './strict-json.ts';

/** Stored beside every fingerprint. A change of the form below is a new version; repeats are judged by the stored one. */
export const FINGERPRINT_VERSION = 1;

/** The parts of a request that a fingerprint covers; `command` is what the kind's schema returned, defaults applied. */
export interface FingerprintInput {
  readonly accountId: string;
  readonly kind: string;
  readonly kindVersion: number;
  readonly command: JsonValue;
}

/** 64 lower-case hexadecimal digits: SHA-256 over the RFC 8785 form of the request. */
export function fingerprintOf({ accountId, kind, kindVersion, command }: FingerprintInput): string {
  return sha256Hex(
    canonicalJson({
      fingerprint_version: FINGERPRINT_VERSION,
      method: 'POST',
      route: `/agent/operations/${kind}`,
      account_id: accountId,
      kind,
      kind_version: kindVersion,
      command,
    }),
  );
}

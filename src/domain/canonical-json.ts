// The RFC 8785 form of a value: what fingerprints, approvals and the audit chain are taken over.
import canonicalize from 'canonicalize';
import type { JsonValue } from './strict-json.ts';

/**
 * One text for one value, whatever the order of members or the spelling it came in. Throws a `TypeError` for what has no
 * canonical form: lone surrogates, numbers that are not finite, cycles, and values outside JSON.
 */
export function canonicalJson(value: JsonValue): string {
  const text = canonicalOrUndefined(value);
  if (text === undefined) throw new TypeError('no canonical JSON form: the value is not JSON');
  return text;
}

function canonicalOrUndefined(value: JsonValue): string | undefined {
  try {
    return canonicalize(value);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TypeError(`no canonical JSON form: ${reason}`, { cause });
  }
}

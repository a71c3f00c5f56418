// Identifiers inside commands: one spelling for what a person reads as one name. Free text never passes here.

/** The identifier in its one spelling, or a sentence on why it can't be one. */
export type IdentifierResult =
  { readonly ok: true; readonly value: string } | { readonly ok: false; readonly detail: string };

/**
 * Most UTF-16 units of an identifier. At 3 bytes each, a business key of three identifiers stays below the 2,704 bytes that
 * a PostgreSQL index row may have; providers' own ids are far shorter.
 */
export const MAX_IDENTIFIER_LENGTH = 255;

/** Controls, invisible format characters and line ends: two identifiers that look alike must not differ by one of them. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/u;

/** Unicode NFC without blanks around it. Bound the length first: a long run of combining marks takes quadratic time. */
export function normaliseIdentifier(text: string): string {
  return text.normalize('NFC').trim();
}

/** Reads an identifier as it stands in a command. */
export function parseIdentifier(text: string): IdentifierResult {
  if (text.trim().length > MAX_IDENTIFIER_LENGTH) return tooLong();
  const value = normaliseIdentifier(text.trim());
  if (value === '') return { ok: false, detail: 'must not be empty' };
  if (UNSEEN.test(value)) {
    return { ok: false, detail: 'must not hold control or invisible characters' };
  }
  // A few characters become longer in NFC.
  return value.length > MAX_IDENTIFIER_LENGTH ? tooLong() : { ok: true, value };
}

function tooLong(): IdentifierResult {
  return { ok: false, detail: `must not be longer than ${MAX_IDENTIFIER_LENGTH} characters` };
}

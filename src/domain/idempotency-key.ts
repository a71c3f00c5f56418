// The name a caller gives to one intended action: how it is read from a request, and the workflow id it becomes. Its scope
// is the pair (account, key), kept as a pair everywhere else.
import { parseItem } from 'structured-headers';
import { sha256Hex } from './sha256.ts';

export { reconcileWorkflowIdFor } from './reconcile-workflow-id.ts';

/** The key, or why there is none; `code` is a problem code of the catalogue. */
export type IdempotencyKeyResult =
  | { readonly ok: true; readonly key: string }
  | {
      readonly ok: false;
      readonly code: 'idempotency_key_missing' | 'idempotency_key_invalid';
      readonly detail: string;
    };

/** What a caller says about earlier sends: there was none, there was one, or it doesn't know. */
export type IdempotencyMode = 'first' | 'retry' | 'any';

/** The public contract's bound; a UUID has 36, and 255 fits every index and header limit. */
export const MAX_KEY_LENGTH = 255;

/** Longest workflow id that is written in the clear (the public contract); above it the key's digest stands for the key. */
export const MAX_WORKFLOW_ID_LENGTH = 200;

const KEY_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/** Visible ASCII, first a letter or digit, without `" ' , ; \`: nothing that could be half of a quoted or list value. */
const BARE_KEY = /^[A-Za-z0-9](?:(?!["',;\\])[\x21-\x7e])*$/;
const ACCOUNT_ID = /^[a-z0-9_]{1,64}$/;
const CLEAR_WORKFLOW_ID = /^([a-z0-9_]{1,64})\/(.+)$/s;
const DIGEST_WORKFLOW_ID = /^([a-z0-9_]{1,64}):sha256:([0-9a-f]{64})$/;

/** Reads the field lines of `Idempotency-Key` as they came, one entry a line, so that a repeated header is seen. */
export function parseIdempotencyKey(values: readonly string[]): IdempotencyKeyResult {
  const [line, ...more] = values;
  if (line === undefined) {
    return {
      ok: false,
      code: 'idempotency_key_missing',
      detail:
        'Send an Idempotency-Key header: one random UUID per intended action, kept and sent again on every retry.',
    };
  }
  // RFC 9110 section 5.3: a field that isn't a list must not be repeated, not even with the same value.
  if (more.length > 0) return invalid('The Idempotency-Key header occurs more than once.');
  const value = withoutOuterBlanks(line);
  if (value === '') return invalid('The Idempotency-Key header is empty.');
  if (value.startsWith('"')) return quotedKey(value);
  if (!BARE_KEY.test(value)) {
    return invalid(
      'The Idempotency-Key is neither a quoted string nor a plain text of visible ASCII.',
    );
  }
  return checkedKey(value);
}

/** Why a text can't be a key, whichever door it came through; undefined where it can. */
export function idempotencyKeyFault(key: string): string | undefined {
  if (key.length === 0) return 'The idempotency key is empty.';
  if (key.length > MAX_KEY_LENGTH) {
    return `The idempotency key is longer than ${MAX_KEY_LENGTH} characters.`;
  }
  if (!KEY_VALUE.test(key)) {
    return 'The idempotency key is not printable ASCII without blanks at its ends.';
  }
  return undefined;
}

/** Reads `Idempotency-Mode`; absent is `any`, and undefined means that the value is not one of the three. */
export function parseIdempotencyMode(value: string | undefined): IdempotencyMode | undefined {
  switch (value) {
    case undefined:
      return 'any';
    case 'first':
    case 'retry':
    case 'any':
      return value;
    default:
      return undefined;
  }
}

/**
 * Id of the workflow that carries out the operation of a key. No two pairs share one: an account id holds neither `/` nor
 * `:`, so the first of them ends it and tells both forms apart.
 */
export function workflowIdFor(accountId: string, key: string): string {
  if (!ACCOUNT_ID.test(accountId)) throw new RangeError('workflow id: not an account id');
  const clear = `${accountId}/${key}`;
  return clear.length <= MAX_WORKFLOW_ID_LENGTH ? clear : `${accountId}:sha256:${sha256Hex(key)}`;
}

/** The account of a workflow id with its key, or with the key's digest; undefined for an id that `workflowIdFor` never gives. */
export function parseWorkflowId(
  id: string,
): { accountId: string; key?: string; keyDigest?: string } | undefined {
  const [, account, key] = CLEAR_WORKFLOW_ID.exec(id) ?? [];
  if (account !== undefined && key !== undefined) {
    const isOurs = id.length <= MAX_WORKFLOW_ID_LENGTH && idempotencyKeyFault(key) === undefined;
    return isOurs ? { accountId: account, key } : undefined;
  }
  const [, accountId, keyDigest] = DIGEST_WORKFLOW_ID.exec(id) ?? [];
  if (accountId === undefined || keyDigest === undefined) return undefined;
  return { accountId, keyDigest };
}

/** RFC 9651 section 4.2: blanks around an item are not part of it. A loop, because / +$/ is quadratic in inner blanks. */
function withoutOuterBlanks(line: string): string {
  let start = 0;
  let end = line.length;
  while (line.charAt(start) === ' ') start += 1;
  while (end > start && line.charAt(end - 1) === ' ') end -= 1;
  return line.slice(start, end);
}

function quotedKey(value: string): IdempotencyKeyResult {
  try {
    const [item, parameters] = parseItem(value);
    if (parameters.size > 0)
      return invalid('The Idempotency-Key has parameters; send the key alone.');
    if (typeof item === 'string') return checkedKey(item);
  } catch {
    // Falls through to the refusal: the parser's messages speak of offsets, the sentence below of what to send.
  }
  return invalid(
    'The Idempotency-Key is not one well-formed quoted string (RFC 9651 section 3.3.3).',
  );
}

function checkedKey(key: string): IdempotencyKeyResult {
  const fault = idempotencyKeyFault(key);
  return fault === undefined ? { ok: true, key } : invalid(fault);
}

function invalid(detail: string): IdempotencyKeyResult {
  return { ok: false, code: 'idempotency_key_invalid', detail };
}

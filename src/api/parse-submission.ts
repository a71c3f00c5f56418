// From an HTTP request to a submission: the only place that sees raw headers and bytes. Order of checks: contract §4.
import type { Request } from 'express';
import {
  parseIdempotencyKey,
  parseIdempotencyMode,
  type IdempotencyMode,
} from '../domain/idempotency-key.ts';
import { HoldfastError } from '../domain/operation-error.ts';
import { parseStrictJson, type JsonValue } from '../domain/strict-json.ts';
import type { Submission } from './submission.types.ts';

/** Largest body in bytes; commands are small, and all of it is hashed and stored. */
export const MAX_BODY_BYTES = 256 * 1024;

const AGENT_RUN = /^[\x21-\x7e]{1,128}$/;
/** W3C Trace Context, version 00; one that doesn't fit is ignored, as that standard asks. */
const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const JSON_MEDIA_TYPE = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i;

/** Refuses what is not JSON in UTF-8 as it is; runs before the body is read. */
export function requireJsonMediaType(request: Request): void {
  const encoding = request.get('content-encoding');
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new HoldfastError('unsupported_media_type', 'Send the body without content encoding.');
  }
  if (!JSON_MEDIA_TYPE.test(request.get('content-type') ?? '')) {
    throw new HoldfastError('unsupported_media_type', 'Send the body as application/json.');
  }
}

/** Reads headers and body bytes; throws `HoldfastError` for the first thing that is wrong. */
export function parseSubmission(request: Request): Submission {
  const body = parseBody(request.body);
  const key = parseIdempotencyKey(request.headersDistinct['idempotency-key'] ?? []);
  if (!key.ok) throw new HoldfastError(key.code, key.detail);
  return { key: key.key, mode: readMode(request), body, ...readTracing(request) };
}

/** The same without the duty to send a key: a preview claims none. */
export function parsePreview(request: Request): Omit<Submission, 'key'> & { key?: string } {
  if (request.get('idempotency-key') !== undefined) return parseSubmission(request);
  return { body: parseBody(request.body), mode: readMode(request), ...readTracing(request) };
}

function readMode(request: Request): IdempotencyMode {
  const mode = parseIdempotencyMode(request.get('idempotency-mode'));
  if (mode !== undefined) return mode;
  throw new HoldfastError('invalid_parameter', 'Idempotency-Mode is first, retry or any.', {
    parameter: 'Idempotency-Mode',
  });
}

/** The key of a submit, where it can be read; whether it can is judged later, in its turn. */
export function submittedKey(request: Request): string | null {
  if (request.method !== 'POST') return null;
  const parsed = parseIdempotencyKey(request.headersDistinct['idempotency-key'] ?? []);
  return parsed.ok ? parsed.key : null;
}

/** The body as strict JSON; throws `invalid_json`. */
export function parseBody(bytes: unknown): JsonValue {
  const parsed = parseStrictJson(bytes instanceof Uint8Array ? bytes : new Uint8Array());
  if (parsed.ok) return parsed.value;
  const { pointer } = parsed;
  throw new HoldfastError('invalid_json', parsed.detail, pointer === undefined ? {} : { pointer });
}

function readTracing(request: Request): Pick<Submission, 'agentRun' | 'traceparent'> {
  const agentRun = request.get('agent-run-id') ?? null;
  if (agentRun !== null && !AGENT_RUN.test(agentRun)) {
    throw new HoldfastError('invalid_parameter', 'Agent-Run-Id is 1 to 128 visible ASCII.', {
      parameter: 'Agent-Run-Id',
    });
  }
  const traceparent = request.get('traceparent') ?? '';
  return { agentRun, traceparent: TRACEPARENT.test(traceparent) ? traceparent : null };
}

/** Longest hold of a request, in seconds: below the idle timeouts of common proxies. */
const LONGEST_WAIT_S = 45;

/** Milliseconds that `Prefer: wait=S` (RFC 7240 §4.3) asks to be held; 0 without it. */
export function preferredWaitMs(request: Request): number {
  const [, seconds] =
    /(?:^|[,;\s])wait=(\d{1,6})(?:$|[,;\s])/i.exec(request.get('prefer') ?? '') ?? [];
  return Math.min(Number(seconds ?? 0), LONGEST_WAIT_S) * 1_000;
}

/** Refuses query parameters that the route doesn't know: a misspelt filter must not pass for "no filter". */
export function refuseUnknownQuery(request: Request, known: readonly string[] = []): void {
  const unknown = Object.keys(request.query).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new HoldfastError('invalid_parameter', 'This query parameter is not known here.', {
    parameter: unknown.slice(0, 100),
  });
}

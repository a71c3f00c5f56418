// One HTTP exchange with a provider under one deadline. It never retries and never follows redirects, and it says which of three
// things happened: an answer came, nothing can have been sent, or the answer was lost.
import { Agent, request } from 'undici';

export interface Exchange {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Milliseconds until the whole answer, body included, must be here. */
  readonly deadlineMs: number;
}

export type ExchangeResult =
  | { readonly type: 'answer'; readonly status: number; readonly body: string }
  /** No connection came about, so no byte of the request left. */
  | { readonly type: 'not_sent'; readonly reason: string }
  | { readonly type: 'lost'; readonly reason: string };

/** A provider's answer to one write is small; more is no answer that we know. */
const LONGEST_BODY_BYTES = 1_048_576;

/** A host that doesn't accept within this long won't before the deadline either. */
const CONNECT_TIMEOUT_MS = 3_000;

/** Failures of connecting, before any byte of a request: the allow-list of "definitely not sent". */
const BEFORE_SENDING = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

// Idle connections are dropped early: one that the provider closes while we send is a lost answer for nothing.
const agent = new Agent({
  connect: { timeout: CONNECT_TIMEOUT_MS },
  keepAliveTimeout: 2_000,
  maxResponseSize: LONGEST_BODY_BYTES,
});

/** Performs the exchange. Never throws. */
export async function exchange(one: Exchange): Promise<ExchangeResult> {
  try {
    const answer = await request(one.url, {
      dispatcher: agent,
      method: one.method,
      headers: one.headers,
      body: one.body ?? null,
      signal: AbortSignal.timeout(one.deadlineMs),
      headersTimeout: one.deadlineMs,
      bodyTimeout: one.deadlineMs,
    });
    return { type: 'answer', status: answer.statusCode, body: await answer.body.text() };
  } catch (error) {
    const code = codeOf(error);
    return BEFORE_SENDING.has(code)
      ? { type: 'not_sent', reason: code }
      : { type: 'lost', reason: code };
  }
}

/** A short code for the evidence; messages may quote the request. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    const codes = new Set(error.errors.map(codeOf));
    // Several addresses were tried: it is only "not sent" if each of them failed before sending.
    const worst = [...codes].find((code) => !BEFORE_SENDING.has(code));
    return worst ?? [...codes][0] ?? 'unknown';
  }
  if (!(error instanceof Error)) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.name === 'TimeoutError' ? 'deadline_exceeded' : error.name;
}

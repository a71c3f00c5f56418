// Structured logs (pino). Never payloads, credentials or personal data: log ids, states and codes.
import { pino, type DestinationStream, type LoggerOptions } from 'pino';
import { errorSummary } from './error-summary.ts';

export type Logger = pino.Logger;

/** Members that never belong into a log, whoever passes them by mistake: a second net below the rule that nothing passes them. */
const NEVER: ReadonlySet<string> = new Set(
  `authorization credential secret password webhookSecret command requestBody request_body responseBody response_body
   memo title description assignee customer_id evidence comment`.split(/\s+/),
);

/** As deep as anything that is logged by mistake; what lies deeper is left out as well. */
const DEEPEST = 4;

/** A copy without those members. Pino's own redaction knows no "at any depth", and costs several times as much a line. */
function withoutPrivate(line: object, depth = 0): Record<string, unknown> {
  const kept = Object.entries(line).filter(([name]) => !NEVER.has(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, cleaned(value, depth)]));
}

function cleaned(value: unknown, depth: number): unknown {
  if (Array.isArray(value)) return value.map((one) => cleaned(one, depth));
  if (!isPlain(value)) return value;
  return depth < DEEPEST ? withoutPrivate(value, depth + 1) : undefined;
}

/** Errors and the like have serializers of their own. */
function isPlain(value: unknown): value is object {
  return (
    value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype
  );
}

/** JSON lines, one process name in each; on standard output unless told otherwise. */
export function createLogger(
  processName: string,
  level: string,
  destination: DestinationStream = pino.destination(1),
): Logger {
  const options: LoggerOptions = {
    base: { process: processName },
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: errorSummary, error: errorSummary },
    formatters: { log: (line) => withoutPrivate(line) },
  };
  return pino(options, destination);
}

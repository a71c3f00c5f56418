// Structured logs (pino). Never payloads, credentials or personal data: log ids, states and codes.
import { pino, type DestinationStream, type LoggerOptions } from 'pino';
import { errorSummary } from './error-summary.ts';

export type Logger = pino.Logger;

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
    redact: { paths: ['*.authorization', '*.credential', '*.command'], remove: true },
  };
  return pino(options, destination);
}

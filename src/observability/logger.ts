// Structured logs (pino). Never payloads, credentials or personal data: log ids, states and codes.
import { pino } from 'pino';

export type Logger = pino.Logger;

/** JSON lines on standard output, one process name in each. */
export function createLogger(processName: string, level: string): Logger {
  return pino({
    base: { process: processName },
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: ['*.authorization', '*.credential', '*.command'], remove: true },
  });
}

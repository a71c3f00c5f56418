// The few database errors that mean something to a caller. All others stay errors.

const CONNECTION_LOST = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** Shutting down, starting up, too many connections, statement or idle timeout: PostgreSQL Appendix A, classes 08, 53, 57. */
const UNAVAILABLE_CLASSES = ['08', '53', '57'];

/** What pg throws without a code when a connection ends under a query or can't be had in time. */
const LOST_WITHOUT_CODE =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|not queryable/;

/** True where Postgres could not be reached or gave up: the caller may repeat with the same key. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isUnavailable);
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  if (code === undefined) return LOST_WITHOUT_CODE.test(error.message);
  return CONNECTION_LOST.has(code) || UNAVAILABLE_CLASSES.includes(code.slice(0, 2));
}

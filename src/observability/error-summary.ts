// Errors in logs: what broke and where, without what it was about. A database's error carries the row that it refused, a JSON error
// quotes its text, an HTTP error may hold the request.

const LONGEST_MESSAGE = 300;
const MOST_CAUSES = 3;

/** What a log keeps of an error. */
export interface ErrorSummary {
  readonly type: string;
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  /** Of a database's error. */
  readonly table?: string | undefined;
  readonly constraint?: string | undefined;
  /** Where it was thrown; its message, which Node repeats there, left out. */
  readonly stack?: string | undefined;
  readonly cause?: ErrorSummary | undefined;
}

/** A pino serializer; whatever is no error is told by its type alone. */
export function errorSummary(error: unknown): ErrorSummary {
  return summary(error, MOST_CAUSES);
}

function summary(error: unknown, causes: number): ErrorSummary {
  if (!(error instanceof Error)) return { type: typeof error };
  const cause = causes > 0 && error.cause !== undefined;
  return {
    type: error.name,
    code: text(error, 'code'),
    message: quotes(error) ? undefined : error.message.slice(0, LONGEST_MESSAGE),
    table: text(error, 'table'),
    constraint: text(error, 'constraint'),
    stack: frames(error.stack),
    cause: cause ? summary(error.cause, causes - 1) : undefined,
  };
}

/** Messages that hold a piece of the data: of JSON that can't be read, and of values that Postgres can't read (class 22). */
function quotes(error: Error): boolean {
  return error instanceof SyntaxError || text(error, 'code')?.startsWith('22') === true;
}

function text(error: Error, member: string): string | undefined {
  const value: unknown = Reflect.get(error, member);
  return typeof value === 'string' ? value : undefined;
}

function frames(stack: string | undefined): string | undefined {
  return stack
    ?.split('\n')
    .filter((line) => line.startsWith('    at '))
    .join('\n');
}

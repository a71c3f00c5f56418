// What an error of the engine's client says about the request: may it succeed later, or never?

/** gRPC: the request itself is wrong, whatever state the engine is in. */
const INVALID_ARGUMENT = 3;

/** Mistakes of our own code, by the errors that the language throws for them. */
const OWN_MISTAKES = [TypeError, RangeError, ReferenceError, SyntaxError];

/** True where the same request will fail again whenever it is made. An allow-list: what is not on it may pass. */
export function isLasting(error: unknown): boolean {
  if (OWN_MISTAKES.some((mistake) => error instanceof mistake)) return true;
  return error instanceof Error && (isInvalid(error) || isInvalid(error.cause));
}

/** The client wraps the error of the call once. */
function isInvalid(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === INVALID_ARGUMENT;
}

// Why an operation didn't succeed, in words for a machine and for a person.
import { OPERATION_ERRORS, type OperationErrorCode } from './error-catalogue.ts';

/** As shown in an operation's `error` and `last_error` and in an attempt's `error`. */
export interface OperationProblem {
  readonly code: string;
  readonly message: string;
}

/** A problem of the catalogue in its own words, or in more exact ones. */
export function operationProblem(
  code: OperationErrorCode,
  message: string = OPERATION_ERRORS[code],
): OperationProblem {
  return { code, message };
}

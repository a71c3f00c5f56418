// What a request turned out to be about: noted where it is known, read when its answer has gone out.
import type { Response } from 'express';
import type { ProblemCode } from '../domain/error-catalogue.ts';
import type { Operation } from '../domain/operation.ts';

/** Members are missing where they don't apply. */
export interface Observed {
  /** The operation that was answered with. */
  operation?: Operation;
  /** The operation that a refusal names. */
  operationId?: string | undefined;
  /** Code of the problem that was answered with. */
  problem?: ProblemCode;
  /** It waited because its caller asked for that. */
  held?: boolean;
}

/** The notes on the request of this response; they may be added to. */
export function observedOf(response: Response): Observed {
  response.locals['observed'] ??= {};
  return response.locals['observed'] as Observed;
}

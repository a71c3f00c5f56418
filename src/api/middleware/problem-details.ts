// The translator to HTTP: every error becomes a problem document (RFC 9457), and nothing but its code and sentence gets out.
import type { ErrorRequestHandler, Request, Response } from 'express';
import { HoldfastError } from '../../domain/operation-error.ts';
import { PROBLEM_MEDIA_TYPE, problemDocument } from '../../domain/problem.ts';
import type { Logger } from '../../observability/logger.ts';
import { isUnavailable } from '../../store/sqlstate.ts';
import { observedOf } from '../observed.ts';

/** A database that restarts is back after about this long. */
const RETRY_AFTER_S = 2;

/** Express recognises error handlers by their four parameters. */
export function problemDetails(logger: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    const problem = asHoldfastError(error);
    if (problem.code === 'internal_error' || problem.code === 'unavailable') {
      logger.error({ error, method: request.method, code: problem.code }, 'request failed');
    }
    sendProblem(response, problem);
  };
}

/** Answers with a problem document. */
export function sendProblem(response: Response, problem: HoldfastError): void {
  const observed = observedOf(response);
  observed.problem = problem.code;
  observed.operationId = problem.members.operation_id;
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { retry_after_seconds: retryAfter } = problem.members;
  if (retryAfter !== undefined) response.set('Retry-After', String(retryAfter));
  response.status(problem.status).type(PROBLEM_MEDIA_TYPE);
  response.send(JSON.stringify(problemDocument(problem)));
}

/** 405 with the methods that the path does have (RFC 9110 §15.5.6). */
export function methodNotAllowed(...allowed: readonly string[]) {
  return (_request: Request, response: Response): never => {
    response.set('Allow', allowed.join(', '));
    throw new HoldfastError('method_not_allowed', `This path takes ${allowed.join(', ')}.`);
  };
}

function asHoldfastError(error: unknown): HoldfastError {
  if (error instanceof HoldfastError) return error;
  if (isUnavailable(error)) {
    const detail = 'The claim may have been recorded; repeat with the same key.';
    return new HoldfastError('unavailable', detail, { retry_after_seconds: RETRY_AFTER_S });
  }
  return fromFramework(error) ?? new HoldfastError('internal_error', 'Something broke here.');
}

/** What Express and its body reader refuse by themselves. */
function fromFramework(error: unknown): HoldfastError | undefined {
  if (!(error instanceof Error) || !('status' in error)) return undefined;
  if (error.status === 413) {
    return new HoldfastError('payload_too_large', 'A body has at most 256 KiB.');
  }
  if (error.status === 415) {
    return new HoldfastError('unsupported_media_type', 'Send the body as application/json.');
  }
  const ofClient = typeof error.status === 'number' && error.status >= 400 && error.status < 500;
  return ofClient
    ? new HoldfastError('invalid_parameter', 'The request could not be read.')
    : undefined;
}

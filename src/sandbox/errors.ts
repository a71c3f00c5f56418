// Refusals that come out of parsing, the same on both sides.
import type { ErrorRequestHandler } from 'express';
import type { z } from 'zod';
import type { Logger } from '../observability/logger.ts';
import { refusal } from './records.ts';

/** What is wrong with a body, in one line. */
export function sentence(error: z.ZodError): string {
  return error.issues
    .map((issue) => `${issue.path.join('.') || 'the body'}: ${issue.message}`)
    .join('; ');
}

const isHttpError = (error: unknown): error is { status: number; message: string } =>
  error instanceof Error && 'status' in error && typeof error.status === 'number';

/** Answers what a handler or the body parser threw. */
export function errorAnswerer(logger: Logger | undefined): ErrorRequestHandler {
  return (error: unknown, _req, res, next) => {
    if (res.headersSent) return next(error);
    if (isHttpError(error) && error.status < 500) {
      const { status, body } = refusal(error.status, 'invalid_request', error.message);
      return void res.status(status).json(body);
    }
    logger?.error({ err: error }, 'a call to the sandbox failed');
    const { status, body } = refusal(500, 'internal_error', 'Something went wrong on our side.');
    res.status(status).json(body);
  };
}

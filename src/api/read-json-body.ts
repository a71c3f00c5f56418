// Bodies that are no submissions: media type, size and strict JSON as there, then the schema that the API's document shows.
import express, { type Request, type RequestHandler } from 'express';
import type { z } from 'zod';
import { HoldfastError } from '../domain/operation-error.ts';
import { faultsOf } from './parse-command.ts';
import { MAX_BODY_BYTES, parseBody, requireJsonMediaType } from './parse-submission.ts';

const jsonOnly: RequestHandler = (request, _response, next) => {
  requireJsonMediaType(request);
  next();
};

/** Handlers that stand before one that calls `readJsonBody`: they check the media type, then keep at most 256 KiB. */
export function jsonBody(): RequestHandler[] {
  return [jsonOnly, express.raw({ type: () => true, limit: MAX_BODY_BYTES, inflate: false })];
}

/** The body; throws `invalid_json`, or `invalid_command` with every fault and its place. */
export function readJsonBody<Schema extends z.ZodType>(
  request: Request,
  schema: Schema,
): z.output<Schema> {
  const parsed = schema.safeParse(parseBody(request.body));
  if (parsed.success) return parsed.data;
  throw new HoldfastError('invalid_command', 'The body can not be used; see errors.', {
    errors: faultsOf(parsed.error),
  });
}

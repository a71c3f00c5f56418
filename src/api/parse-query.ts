// Query parameters against the schema that the API's document shows. A filter that can't be used is refused: answering without it
// would look like an answer to it.
import type { Request } from 'express';
import type { z } from 'zod';
import { HoldfastError } from '../domain/operation-error.ts';
import { refuseUnknownQuery } from './parse-submission.ts';

/** The parameters; throws `invalid_parameter` for one that is unknown, repeated or not valid. */
export function parseQuery<Schema extends z.ZodObject>(
  request: Request,
  schema: Schema,
): z.output<Schema> {
  refuseUnknownQuery(request, Object.keys(schema.shape));
  const repeated = Object.entries(request.query).find(([, value]) => typeof value !== 'string');
  if (repeated) throw refusal(repeated[0], 'Send this query parameter once.');
  const parsed = schema.safeParse({ ...request.query });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw refusal(String(issue?.path[0] ?? ''), `Not usable: ${issue?.message ?? 'not valid'}.`);
}

function refusal(parameter: string, detail: string): HoldfastError {
  return new HoldfastError('invalid_parameter', detail, { parameter: parameter.slice(0, 100) });
}

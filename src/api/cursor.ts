// Cursors: a place in a list, opaque to clients and checked like every other input when it comes back.
import type { z } from 'zod';
import { HoldfastError } from '../domain/operation-error.ts';

/** The text that stands for a place. */
export function cursorOf(place: Readonly<Record<string, string>>): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/** The place of a cursor that we gave; anything else is refused. */
export function parseCursor<Place>(cursor: string, schema: z.ZodType<Place>): Place {
  const parsed = schema.safeParse(decoded(cursor));
  if (parsed.success) return parsed.data;
  throw new HoldfastError('invalid_parameter', 'This cursor is not one that was given here.', {
    parameter: 'cursor',
  });
}

function decoded(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

// Statements of the hot path are prepared once per connection: planning a claim costs Postgres more than running it.
import type { QueryResult } from 'pg';
import type { Queryable } from './pool.ts';

/** A statement under a name that is unique among all; the text must not vary. */
export interface Prepared {
  readonly name: string;
  readonly text: string;
}

/**
 * Ids `q (id)` from `$1`, a JSON array, for statements that read several at once. Of an SQL array Postgres counts the members: a plan for the one
 * that is mostly asked for looks cheaper than one for any number, so it would plan anew each time.
 */
export const IDS = 'jsonb_array_elements_text($1::jsonb) q (id)';

/** Runs a prepared statement. Needs a connection of its own: a pooler that hands out statements, not sessions, would break it. */
export function run(
  db: Queryable,
  { name, text }: Prepared,
  values: unknown[],
): Promise<QueryResult> {
  return db.query({ name, text, values });
}

// Statements of the hot path are prepared once per connection: planning a claim costs Postgres more than running it.
import type { QueryResult } from 'pg';
import type { Queryable } from './pool.ts';

/** A statement under a name that is unique among all; the text must not vary. */
export interface Prepared {
  readonly name: string;
  readonly text: string;
}

/** Runs a prepared statement. Needs a connection of its own: a pooler that hands out statements, not sessions, would break it. */
export function run(
  db: Queryable,
  { name, text }: Prepared,
  values: unknown[],
): Promise<QueryResult> {
  return db.query({ name, text, values });
}

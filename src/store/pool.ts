// Connections to Postgres. Every wait has an end: a database that doesn't answer becomes an error, never a hanging request.
import { Pool as PgPool, types, type ClientBase } from 'pg';

export type Pool = PgPool;
/** A pool or one connection of it: what a statement needs. */
export type Queryable = Pick<ClientBase, 'query'>;

/** Longer than any statement here takes on a loaded machine, shorter than a caller's patience. */
const STATEMENT_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 3_000;

// Times become RFC 3339 text once, here, so that the rest of the code never sees a Date.
types.setTypeParser(types.builtins.TIMESTAMPTZ, (text) => new Date(text).toISOString());

/** A pool of at most `max` connections; `onIdleError` hears of connections lost while nobody used them. */
export function createPool(
  url: string,
  options: { max: number; onIdleError: (error: Error) => void },
): Pool {
  const pool = new PgPool({
    connectionString: url,
    max: options.max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: STATEMENT_TIMEOUT_MS + 1_000,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    application_name: 'holdfast',
  });
  pool.on('error', options.onIdleError);
  return pool;
}

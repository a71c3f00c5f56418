// One transaction: commits what `work` did, or nothing of it. No network call but to Postgres may happen inside.
import type { PoolClient } from 'pg';
import type { Pool } from './pool.ts';

/** Runs `work` in a transaction (read committed). An error rolls back and is thrown on. */
export async function inTransaction<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // The pool listens to idle connections only. Losing this one between two statements would otherwise end the process.
  const onLost = (error: Error): void => {
    broken = error;
  };
  client.on('error', onLost);
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.removeListener('error', onLost);
    // A connection that couldn't even roll back is thrown away: its transaction state is not known.
    client.release(broken);
  }
}

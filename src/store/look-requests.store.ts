// A person wants the provider asked now. The wish is an outbox message, so it outlives an engine that is away.
import { mayLookNow } from '../domain/look-now.ts';
import type { OperationFile } from '../domain/operation.ts';
import { lockFile } from './operations.store.ts';
import type { Pool, Queryable } from './pool.ts';
import { inTransaction } from './transaction.ts';

export type LookRequestResult =
  | { readonly status: 'not_found' }
  | { readonly status: 'wrong_state'; readonly file: OperationFile }
  | { readonly status: 'requested'; readonly file: OperationFile; readonly messageId: string };

/** The API tells the engine at once; the relay takes over when that hasn't happened after this long. */
const RELAY_GRACE = '2 seconds';

/** Asks for a look at an operation of this account. */
export async function requestLook(
  pool: Pool,
  accountId: string,
  operationId: string,
): Promise<LookRequestResult> {
  return inTransaction(pool, async (db) => {
    const file = await lockFile(db, operationId);
    if (file?.operation.accountId !== accountId) return { status: 'not_found' };
    if (!mayLookNow(file, Date.parse(file.now))) return { status: 'wrong_state', file };
    return { status: 'requested', file, messageId: await enqueueLook(db, operationId) };
  });
}

/** However often it is wished for while the engine is away, one look is enough: the operation's lock makes this no race. */
async function enqueueLook(db: Queryable, operationId: string): Promise<string> {
  const waiting = await db.query<{ message_id: string }>(
    `select message_id from outbox_messages where operation_id = $1 and type = 'look' limit 1`,
    [operationId],
  );
  if (waiting.rows[0]) return waiting.rows[0].message_id;
  const { rows } = await db.query<{ message_id: string }>(
    `insert into outbox_messages (operation_id, type, next_delivery_at)
     values ($1, 'look', holdfast_now() + interval '${RELAY_GRACE}') returning message_id`,
    [operationId],
  );
  if (!rows[0]) throw new Error('a message was not inserted');
  return rows[0].message_id;
}

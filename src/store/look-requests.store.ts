// A person wants the provider asked now. The wish is an outbox message, so it outlives an engine that is away.
import { mayLookNow } from '../domain/look-now.ts';
import type { OperationFile } from '../domain/operation.ts';
import { lockFile } from './operations.store.ts';
import { enqueueForCaller } from './outbox.store.ts';
import type { Pool, Queryable } from './pool.ts';
import { inTransaction } from './transaction.ts';

export type LookRequestResult =
  | { readonly status: 'not_found' }
  | { readonly status: 'wrong_state'; readonly file: OperationFile }
  | { readonly status: 'requested'; readonly file: OperationFile; readonly messageId: string };

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
  return enqueueForCaller(db, operationId, 'look');
}

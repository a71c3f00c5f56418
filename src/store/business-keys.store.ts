// Who holds a business key.
import type { OperationState } from '../domain/operation-state.ts';
import type { Queryable } from './pool.ts';

export interface BusinessKeyHolder {
  readonly operationId: string;
  readonly status: OperationState;
}

/** The operation that holds the key now, read without a lock; undefined where none does. */
export async function businessKeyHolder(
  db: Queryable,
  { accountId, kind, businessKey }: { accountId: string; kind: string; businessKey: string },
): Promise<BusinessKeyHolder | undefined> {
  const { rows } = await db.query<BusinessKeyHolder>(
    `select o.operation_id as "operationId", o.status
     from business_keys b join operations o using (operation_id)
     where b.account_id = $1 and b.kind = $2 and b.business_key = $3`,
    [accountId, kind, businessKey],
  );
  return rows[0];
}

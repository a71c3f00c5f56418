// Whose request an operation is: nobody decides about what their own owner submitted.
import type { Queryable } from './pool.ts';
import { run, type Prepared } from './prepared.ts';

const OWNERS: Prepared = {
  name: 'submitter_owners',
  text: `select distinct p.owner from idempotency_keys k join principals p using (principal_id)
     where k.operation_id = $1`,
};

/** Owners of everybody whose key stands for this operation, those that were reused included. */
export async function submitterOwners(db: Queryable, operationId: string): Promise<string[]> {
  const { rows } = await run(db, OWNERS, [operationId]);
  return rows.map((row) => row.owner as string);
}

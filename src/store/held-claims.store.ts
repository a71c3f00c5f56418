// What an operation holds while it may have acted: its business key, its share of the operation it acts on, and of the day's ceilings.
import type { Operation } from '../domain/operation.ts';
import type { Queryable } from './pool.ts';

/** Gives everything back; for operations that certainly did nothing. */
export async function releaseClaims(db: Queryable, operationId: string): Promise<void> {
  await db.query(
    `with business as (delete from business_keys where operation_id = $1),
     counted as (update ceiling_reservations set holds = false where operation_id = $1)
     delete from target_claims where operation_id = $1`,
    [operationId],
  );
}

/** Takes everything back, for an operation that may have acted after all. Where another holds the key both are marked. */
export async function retakeClaims(db: Queryable, operation: Operation): Promise<void> {
  const { operationId, accountId, kind, businessKey, plan } = operation;
  if (plan.target) {
    await db.query(
      `insert into target_claims (operation_id, target_operation_id, amount_minor)
       values ($1, $2, $3) on conflict do nothing`,
      [operationId, plan.target.operation_id, plan.target.amount_minor],
    );
  }
  await db.query('update ceiling_reservations set holds = true where operation_id = $1', [
    operationId,
  ]);
  if (businessKey === null) return;
  await db.query(
    `insert into business_keys (account_id, kind, business_key, operation_id)
     values ($1, $2, $3, $4) on conflict do nothing`,
    [accountId, kind, businessKey, operationId],
  );
  await markConflict(db, operation);
}

/**
 * The other's answers show it from now on, so its version tells of it: what is being stored of it from an earlier reading, without the
 * conflict, loses the compare-and-set.
 */
async function markConflict(db: Queryable, operation: Operation): Promise<void> {
  const { operationId, accountId, kind, businessKey } = operation;
  await db.query(
    `with holder as (
       select operation_id from business_keys
       where account_id = $2 and kind = $3 and business_key = $4 and operation_id <> $1)
     update operations o
     set conflicts_with = case when o.operation_id = $1 then holder.operation_id else $1 end,
       version = version + (o.operation_id <> $1)::integer
     from holder where o.operation_id in ($1, holder.operation_id)`,
    [operationId, accountId, kind, businessKey],
  );
}

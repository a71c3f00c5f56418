// What belongs to an operation: what acts on it, what it acts on, keys that stand for it, and who holds its business key.
import type { OperationState } from '../domain/operation-state.ts';
import type { StoredRelation } from '../domain/relation.ts';
import type { Queryable } from './pool.ts';

export interface RelatedRow {
  readonly relation: StoredRelation;
  readonly operationId: string;
  readonly kind: string;
  readonly kindVersion: number;
  readonly status: OperationState;
  /** Of the other operation; of the alias where the relation is `reused_by`. */
  readonly idempotencyKey: string;
  readonly createdAt: string;
  /** Minor units that it holds, or held, of its target; null where no target is concerned. */
  readonly amountMinor: string | null;
  readonly currency: string | null;
  /** False once it has given back what it held. */
  readonly holds: boolean | null;
}

/** More than this acts on no operation that people can survey; whoever has more lists by key or kind. */
export const MOST_RELATED = 500;

const OTHER = `other.operation_id as "operationId", other.kind, other.kind_version as "kindVersion", other.status`;
const OWN_KEY = `other.idempotency_key as "idempotencyKey", other.created_at as "createdAt"`;
const SHARE = (of: string): string => `${of}.plan #>> '{target,amount_minor}' as "amountMinor",
  ${of}.plan #>> '{target,currency}' as currency,
  exists (select 1 from target_claims t where t.operation_id = ${of}.operation_id) as holds`;
const NO_SHARE = `null as "amountMinor", null as currency, null::boolean as holds`;

/** Everything related to an operation of this account, oldest first; one more than `MOST_RELATED` where there is more. */
export async function readRelated(
  db: Queryable,
  accountId: string,
  operationId: string,
): Promise<RelatedRow[]> {
  const { rows } = await db.query<RelatedRow>(
    `select * from (
       select 'acted_on_by' as relation, ${OTHER}, ${OWN_KEY}, ${SHARE('other')}
       from operations other
       where other.plan #>> '{target,operation_id}' = $2 and other.account_id = $1
       union all
       select 'acts_on', ${OTHER}, ${OWN_KEY}, ${SHARE('own')}
       from operations own
       join operations other on other.operation_id = own.plan #>> '{target,operation_id}'
       where own.operation_id = $2 and other.account_id = $1
       union all
       select 'conflicts_with', ${OTHER}, ${OWN_KEY}, ${NO_SHARE}
       from operations own join operations other on other.operation_id = own.conflicts_with
       where own.operation_id = $2 and other.account_id = $1
       union all
       select 'reused_by', ${OTHER}, k.idempotency_key, k.created_at, ${NO_SHARE}
       from idempotency_keys k join operations other using (operation_id)
       where k.operation_id = $2 and k.account_id = $1 and k.idempotency_key <> other.idempotency_key
     ) related
     order by "createdAt", "operationId", "idempotencyKey" limit ${MOST_RELATED + 1}`,
    [accountId, operationId],
  );
  return rows;
}

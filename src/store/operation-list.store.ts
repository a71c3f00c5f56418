// Lists of operations: newest first, by (created_at, operation_id), so that a page boundary is a place and not a count, and what is
// claimed meanwhile moves nothing.
import type { OperationFile } from '../domain/operation.ts';
import type { OperationState } from '../domain/operation-state.ts';
import { attachmentsFromRow } from './operations.store.ts';
import { operationFromRow } from './operation-rows.ts';
import type { Queryable } from './pool.ts';

/** A place in the list: the last operation of a page. */
export interface ListPlace {
  readonly createdAt: string;
  readonly operationId: string;
}

export interface OperationFilter {
  readonly accountId: string;
  /** Kinds that the reader may see; undefined where all. */
  readonly kinds?: readonly string[] | undefined;
  readonly kind?: string | undefined;
  readonly status?: OperationState | undefined;
  /** The operation's own key, or an alias of it. */
  readonly idempotencyKey?: string | undefined;
  /** As stored; see domain/business-key. */
  readonly businessKey?: string | undefined;
  readonly customerId?: string | undefined;
  readonly createdAfter?: string | undefined;
  readonly before?: ListPlace | undefined;
}

/** Settled operations are answered with their stored bytes, so their attempts are not read. */
const ATTACHMENTS = `
  case when o.response_body is not null then '[]' else
    (select coalesce(json_agg(a order by a.number), '[]')
     from attempts a where a.operation_id = o.operation_id) end as attempts,
  case when o.response_body is not null then null else
    (select to_json(p) from approvals p
     where p.operation_id = o.operation_id order by p.round desc limit 1) end as approval`;

/** At most `limit` operations that pass all filters, newest first. */
export async function listOperations(
  db: Queryable,
  filter: OperationFilter,
  limit: number,
): Promise<OperationFile[]> {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const conditions = conditionsOf(filter, bind);
  const { rows } = await db.query(
    `select o.*, ${ATTACHMENTS} from operations o
     where ${conditions.join(' and ')}
     order by o.created_at desc, o.operation_id desc limit ${bind(limit)}`,
    values,
  );
  return rows.map((row) => ({ operation: operationFromRow(row), ...attachmentsFromRow(row) }));
}

function conditionsOf(filter: OperationFilter, bind: (value: unknown) => string): string[] {
  const account = bind(filter.accountId);
  const on = (value: unknown, condition: (parameter: string) => string): string[] =>
    value === undefined ? [] : [condition(bind(value))];
  const { before } = filter;
  return [
    `o.account_id = ${account}`,
    ...on(filter.kinds, (kinds) => `o.kind = any (${kinds})`),
    ...on(filter.kind, (kind) => `o.kind = ${kind}`),
    ...on(filter.status, (status) => `o.status = ${status}`),
    ...on(
      filter.idempotencyKey,
      (key) => `o.operation_id in (select operation_id from idempotency_keys
         where account_id = ${account} and idempotency_key = ${key})`,
    ),
    ...on(
      filter.businessKey,
      (key) => `md5(o.business_key) = md5(${key}) and o.business_key = ${key}`,
    ),
    ...on(
      filter.customerId,
      (id) => `md5(o.command ->> 'customer_id') = md5(${id})
         and o.command ->> 'customer_id' = ${id}`,
    ),
    ...on(filter.createdAfter, (time) => `o.created_at > ${time}`),
    ...(before
      ? [
          `(o.created_at, o.operation_id) < (${bind(before.createdAt)}, ${bind(before.operationId)})`,
        ]
      : []),
  ];
}

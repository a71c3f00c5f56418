// The use case: what belongs to an operation.
import { MINOR_UNIT_DIGITS } from '../domain/currencies.ts';
import { formatAmount } from '../domain/money.ts';
import type { Operation } from '../domain/operation.ts';
import { relationOf } from '../domain/relation.ts';
import { definitionOf } from '../operations/registry.ts';
import type { Principal } from '../store/principals.store.ts';
import { MOST_RELATED, readRelated, type RelatedRow } from '../store/related.store.ts';
import type { ApiDependencies } from './dependencies.ts';
import type { Related } from './routes/operation-list.contract.ts';

/** Everything related to an operation that the principal may read; what it may not see is not there. */
export async function relatedOperations(
  { pool }: Pick<ApiDependencies, 'pool'>,
  principal: Principal,
  own: Operation,
): Promise<{ related: Related[]; truncated: boolean }> {
  const rows = await readRelated(pool, own.accountId, own.operationId);
  const isAgent = principal.roles.includes('agent');
  const visible = rows
    .slice(0, MOST_RELATED)
    .filter((row) => !isAgent || principal.grants.includes(row.kind));
  return {
    related: visible.map((row) => shown(own, row)),
    truncated: rows.length > MOST_RELATED,
  };
}

function shown(own: Operation, row: RelatedRow): Related {
  const actor = row.relation === 'acts_on' ? own : row;
  const target = definitionOf(actor.kind, actor.kindVersion)?.target;
  return {
    relation: relationOf(row.relation, target?.compensates === true),
    operation_id: row.operationId,
    kind: row.kind,
    status: row.status,
    idempotency_key: row.idempotencyKey,
    created_at: row.createdAt,
    ...shareOf(row),
  };
}

function shareOf({ amountMinor, currency, holds }: RelatedRow): Partial<Related> {
  const share = holds === null ? {} : { holds_share: holds };
  const digits = currency === null ? undefined : MINOR_UNIT_DIGITS.get(currency);
  if (amountMinor === null || currency === null || digits === undefined) return share;
  return { amount: formatAmount(amountMinor, digits), currency, ...share };
}

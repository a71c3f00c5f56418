// The use case: one page of what waits for an answer or for a person.
import { z } from 'zod';
import { moneyAtRisk } from '../domain/money-at-risk.ts';
import type { Operation } from '../domain/operation.ts';
import { activeHolds } from '../store/holds.store.ts';
import type { ListPlace } from '../store/operation-list.store.ts';
import { queueTotals, readQueue, type QueueEntry } from '../store/operator-queue.store.ts';
import { cursorOf, parseCursor } from './cursor.ts';
import type { ApiDependencies } from './dependencies.ts';
import { holdShown } from './hold-operations.ts';
import { operationId } from './openapi/members.ts';
import type { Queue, QueueQuery } from './routes/operator-queue.contract.ts';

const Place = z.strictObject({
  createdAt: z.iso
    .datetime({ precision: 3 })
    .refine((time) => time >= '1970' && !Number.isNaN(Date.parse(time))),
  operationId,
}) satisfies z.ZodType<ListPlace>;

/** A page of the account's queue, with what the whole of it may have moved and the holds that apply. */
export async function queuePage(
  { pool }: Pick<ApiDependencies, 'pool'>,
  accountId: string,
  { limit, cursor }: QueueQuery,
): Promise<Queue> {
  const after = cursor === undefined ? undefined : parseCursor(cursor, Place);
  const [entries, totals, holds] = await Promise.all([
    // One more than is shown tells whether there is a next page.
    readQueue(pool, accountId, after, limit + 1),
    queueTotals(pool, accountId),
    activeHolds(pool, accountId),
  ]);
  const shown = entries.slice(0, limit);
  return {
    operations: shown.map(entryShown),
    total: totals.operations,
    money_at_risk: totals.atRisk.map((one) => ({ ...one })),
    holds: holds.map(holdShown),
    next_cursor: entries.length > shown.length ? placeAfter(shown) : null,
  };
}

function placeAfter(shown: readonly QueueEntry[]): string | null {
  const last = shown.at(-1)?.operation;
  return last ? cursorOf({ createdAt: last.createdAt, operationId: last.operationId }) : null;
}

function entryShown(entry: QueueEntry): Queue['operations'][number] {
  const { operation: o, since, attempts, held, lastLook, proposals } = entry;
  return {
    operation_id: o.operationId,
    kind: o.kind,
    status: o.status,
    since,
    review_reason: o.reviewReason,
    error: o.error,
    last_error: o.lastError,
    money_at_risk: moneyAtRisk(o),
    agent_id: o.agentId,
    idempotency_key: o.idempotencyKey,
    connection: o.connection,
    provider: { adapter: o.adapter, token: o.providerToken, reference: o.providerReference },
    attempts,
    last_lookup: lastLook,
    deadline: deadlineOf(o),
    held,
    resolved_by: o.resolvedBy,
    awaiting_second: [...proposals],
    unknown_since: o.unknownSince,
    created_at: o.createdAt,
  };
}

/** When the machine gives up and leaves it to a person; null where it has. */
function deadlineOf({ status, unknownSince, plan }: Operation): string | null {
  if (status === 'NEEDS_REVIEW' || unknownSince === null) return null;
  return new Date(Date.parse(unknownSince) + plan.reconcile.deadline_ms).toISOString();
}

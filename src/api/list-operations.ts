// The use case: one page of the operations that a principal may see.
import { z } from 'zod';
import { businessKeyOf } from '../domain/business-key.ts';
import type { OperationFile } from '../domain/operation.ts';
import { renderOperation } from '../domain/representation.ts';
import { listOperations, type ListPlace } from '../store/operation-list.store.ts';
import type { Principal } from '../store/principals.store.ts';
import { cursorOf, parseCursor } from './cursor.ts';
import type { ApiDependencies } from './dependencies.ts';
import { operationId } from './openapi/members.ts';
import type { ListQuery } from './routes/operation-list.contract.ts';

const Place = z.strictObject({
  createdAt: z.iso
    .datetime({ precision: 3 })
    .refine((time) => time >= '1970' && !Number.isNaN(Date.parse(time))),
  operationId,
}) satisfies z.ZodType<ListPlace>;

/** The page as JSON text: a settled operation stands in it with its stored bytes. */
export async function operationsPage(
  { pool }: Pick<ApiDependencies, 'pool'>,
  principal: Principal,
  query: ListQuery,
): Promise<string> {
  const files = await listOperations(
    pool,
    {
      accountId: principal.accountId,
      kinds: principal.roles.includes('agent') ? principal.grants : undefined,
      kind: query.kind,
      status: query.status,
      idempotencyKey: query.idempotency_key,
      businessKey: query.business_key === undefined ? undefined : storedForm(query.business_key),
      customerId: query.customer_id,
      createdAfter: query.created_after,
      before: query.cursor === undefined ? undefined : parseCursor(query.cursor, Place),
    },
    // One more than is shown tells whether there is a next page.
    query.limit + 1,
  );
  const shown = files.slice(0, query.limit);
  const next = files.length > shown.length ? placeAfter(shown) : null;
  const operations = shown.map((file) => file.operation.responseBody ?? renderOperation(file));
  return `{"operations":[${operations.join(',')}],"next_cursor":${JSON.stringify(next)}}`;
}

function placeAfter(shown: readonly OperationFile[]): string | null {
  const last = shown.at(-1)?.operation;
  return last ? cursorOf({ createdAt: last.createdAt, operationId: last.operationId }) : null;
}

const Parts = z.array(z.string()).min(1);

/** A JSON array of texts is taken as the parts of the key; everything else is the one part of a key that has only one. */
function storedForm(text: string): string {
  const parsed = Parts.safeParse(asJson(text));
  return businessKeyOf(parsed.success ? parsed.data : [text]);
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// The use case: one page of audit events.
import { z } from 'zod';
import type { OperationState } from '../domain/operation-state.ts';
import { readAuditEvents, type AuditPlace, type AuditRow } from '../store/audit-reading.store.ts';
import type { Principal } from '../store/principals.store.ts';
import { cursorOf, parseCursor } from './cursor.ts';
import type { ApiDependencies } from './dependencies.ts';
import type { Event, eventsQuery } from './routes/audit-events.contract.ts';

const PAGE = 100;

/** Below 2^63, which both columns can hold. */
const digits = z.string().regex(/^\d{1,18}$/);
const Place = z.strictObject({ xid: digits, eventId: digits }) satisfies z.ZodType<AuditPlace>;

/** The events after the cursor, in the principal's own account. */
export async function auditPage(
  { pool }: Pick<ApiDependencies, 'pool'>,
  principal: Principal,
  query: z.output<typeof eventsQuery>,
): Promise<{ events: Event[]; next_cursor: string | null }> {
  const after = query.cursor === undefined ? undefined : parseCursor(query.cursor, Place);
  const where = { operationId: query.operation_id, after };
  const rows = await readAuditEvents(pool, principal.accountId, where, PAGE + 1);
  const shown = rows.slice(0, PAGE);
  const last = shown.at(-1);
  const more = rows.length > shown.length && last !== undefined;
  return {
    events: shown.map(eventOf),
    next_cursor: more ? cursorOf({ xid: last.xid, eventId: last.eventId }) : null,
  };
}

function eventOf(row: AuditRow): Event {
  const { decision, ...detail } = row.detail ?? {};
  return {
    event_id: row.eventId,
    sequence: row.sequence === null ? null : Number(row.sequence),
    type: row.type,
    operation_id: row.operationId,
    at: row.at,
    ...(row.from === null ? {} : { from: row.from as OperationState }),
    ...(row.to === null ? {} : { to: row.to as OperationState }),
    ...(typeof decision === 'string' ? { decision } : {}),
    principal: row.principal,
    agent_run: row.agentRun,
    route: row.route,
    key: row.key,
    fingerprint: row.fingerprint,
    response_hash: row.responseHash,
    provider_reference: row.providerReference,
    ...(Object.keys(detail).length === 0 ? {} : { detail }),
  };
}

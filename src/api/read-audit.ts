// The use case: one page of audit events.
import { z } from 'zod';
import { membersOf, type AuditMembers } from '../domain/audit-chain.ts';
import type { OperationState } from '../domain/operation-state.ts';
import {
  readAuditEvents,
  type AuditPlace,
  type SealableRow,
} from '../store/audit-reading.store.ts';
import type { AuditType } from '../store/audit.store.ts';
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

function eventOf(row: SealableRow): Event {
  const told = toldBy(row);
  const { decision, ...detail } = told.detail ?? {};
  return {
    event_id: row.eventId,
    sequence: row.sequence === null ? null : Number(row.sequence),
    hash: row.hash,
    type: told.type as AuditType,
    operation_id: told.operation_id ?? null,
    at: told.at,
    ...(told.from === undefined ? {} : { from: told.from as OperationState }),
    ...(told.to === undefined ? {} : { to: told.to as OperationState }),
    ...(typeof decision === 'string' ? { decision } : {}),
    principal: told.principal ?? null,
    agent_run: told.agent_run ?? null,
    route: told.route ?? null,
    key: told.key ?? null,
    fingerprint: told.fingerprint ?? null,
    response_hash: told.response_hash ?? null,
    provider_reference: told.provider_reference ?? null,
    ...(Object.keys(detail).length === 0 ? {} : { detail }),
  };
}

/** Of a sealed event the hashed bytes count, not the columns beside them. */
function toldBy(row: SealableRow): AuditMembers {
  return row.entry === null ? membersOf(row) : (JSON.parse(row.entry) as AuditMembers);
}

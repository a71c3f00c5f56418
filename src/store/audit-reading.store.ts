// Reading the audit so that no event is missed. Order: transaction, then event. Only events below the oldest transaction that still
// runs are shown: below it everything is decided, so nothing can appear behind a reader. An event shows up when the writers that ran
// beside it have ended, normally within milliseconds.
import type { AuditRecord } from '../domain/audit-chain.ts';
import type { AuditType } from './audit.store.ts';
import type { Queryable } from './pool.ts';

/** A place in the audit: the last event of a page. Both are digits; they outgrow a double. */
export interface AuditPlace {
  readonly xid: string;
  readonly eventId: string;
}

export interface AuditRow extends AuditPlace, AuditRecord {
  readonly type: AuditType;
}

/** An event with what the sealer made of it: all three are null until then. */
export interface SealableRow extends AuditRow {
  readonly sequence: string | null;
  /** The hashed bytes. What they say counts, not the columns. */
  readonly entry: string | null;
  readonly hash: string | null;
}

/** The columns of an event under the names of `AuditRow`. */
export const AUDIT_ROW = `xid::text as xid, event_id as "eventId", type, operation_id as "operationId", at,
  from_state as "from", to_state as "to", principal_id as principal, agent_run as "agentRun",
  route, idempotency_key as key, fingerprint, response_sha256 as "responseHash",
  provider_reference as "providerReference", detail`;

/** At most `limit` events of an account, or of one operation in it, after a place. */
export async function readAuditEvents(
  db: Queryable,
  accountId: string,
  where: { readonly operationId?: string | undefined; readonly after?: AuditPlace | undefined },
  limit: number,
): Promise<SealableRow[]> {
  const { rows } = await db.query<SealableRow>(
    `select ${AUDIT_ROW}, sequence, entry, hash
     from audit_events
     where account_id = $1 and ($2::text is null or operation_id = $2)
       and (xid, event_id) > ($3::xid8, $4::bigint)
       and xid < pg_snapshot_xmin(pg_current_snapshot())
     order by audit_events.xid, event_id limit $5`,
    [accountId, where.operationId, where.after?.xid ?? '0', where.after?.eventId ?? '0', limit],
  );
  return rows;
}

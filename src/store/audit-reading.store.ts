// Reading the audit so that no event is missed. Order: transaction, then event. Only events below the oldest transaction that still
// runs are shown: below it everything is decided, so nothing can appear behind a reader. An event shows up when the writers that ran
// beside it have ended, normally within milliseconds.
import type { AuditType } from './audit.store.ts';
import type { Queryable } from './pool.ts';

/** A place in the audit: the last event of a page. Both are digits; they outgrow a double. */
export interface AuditPlace {
  readonly xid: string;
  readonly eventId: string;
}

export interface AuditRow extends AuditPlace {
  readonly sequence: string | null;
  readonly type: AuditType;
  readonly operationId: string | null;
  readonly at: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly principal: string | null;
  readonly agentRun: string | null;
  readonly route: string | null;
  readonly key: string | null;
  readonly fingerprint: string | null;
  readonly responseHash: string | null;
  readonly providerReference: string | null;
  readonly detail: Readonly<Record<string, unknown>> | null;
}

/** At most `limit` events of an account, or of one operation in it, after a place. */
export async function readAuditEvents(
  db: Queryable,
  accountId: string,
  where: { readonly operationId?: string | undefined; readonly after?: AuditPlace | undefined },
  limit: number,
): Promise<AuditRow[]> {
  const { rows } = await db.query<AuditRow>(
    `select xid::text as xid, event_id as "eventId", sequence, type, operation_id as "operationId", at,
       from_state as "from", to_state as "to", principal_id as principal, agent_run as "agentRun",
       route, idempotency_key as key, fingerprint, response_sha256 as "responseHash",
       provider_reference as "providerReference", detail
     from audit_events
     where account_id = $1 and ($2::text is null or operation_id = $2)
       and (xid, event_id) > ($3::xid8, $4::bigint)
       and xid < pg_snapshot_xmin(pg_current_snapshot())
     order by audit_events.xid, event_id limit $5`,
    [accountId, where.operationId, where.after?.xid ?? '0', where.after?.eventId ?? '0', limit],
  );
  return rows;
}

// What an evidence bundle is made of, as of one moment: a row and events that were read at two moments would seem to disagree.
import type { AuditRecord } from '../domain/audit-chain.ts';
import type { ApprovalFacts, OperationFacts } from '../domain/evidence-bundle.ts';
import type { JsonObject, JsonValue } from '../domain/strict-json.ts';
import { AUDIT_ROW } from './audit-reading.store.ts';
import { timeInJson } from './operation-rows.ts';
import type { Pool, Queryable } from './pool.ts';
import { inTransaction } from './transaction.ts';

/** An event of the operation, in the order in which they were written. */
export interface FiledEvent extends AuditRecord {
  readonly sequence: string | null;
  readonly entry: string | null;
  readonly hash: string | null;
}

export interface EvidenceParts {
  readonly row: OperationFacts;
  /** Judged, and never told. */
  readonly command: JsonObject;
  readonly policyDecision: JsonValue;
  readonly approvals: readonly ApprovalFacts[];
  readonly attempts: readonly JsonValue[];
  readonly statements: readonly JsonValue[];
  readonly events: readonly FiledEvent[];
}

/** Calls `use` with everything about an operation of the account; further reads of `use` see the same moment. */
export async function withEvidence<T>(
  pool: Pool,
  accountId: string,
  operationId: string,
  use: (db: Queryable, parts: EvidenceParts) => Promise<T>,
): Promise<T | undefined> {
  return inTransaction(pool, async (db) => {
    await db.query('set transaction isolation level repeatable read, read only');
    const row = await readRow(db, accountId, operationId);
    if (!row) return undefined;
    return use(db, {
      ...row,
      approvals: await readApprovals(db, operationId),
      attempts: await objects(db, ATTEMPTS, operationId),
      statements: await objects(db, STATEMENTS, operationId),
      events: await readEvents(db, operationId),
    });
  });
}

const sha256Of = (text: string): string => `encode(sha256(convert_to(${text}, 'UTF8')), 'hex')`;

/** Members that later versions add are looked for in the row as JSON, so that a database without them is read as well. */
const ROW = `select json_build_object(
    'operation_id', operation_id, 'account_id', account_id, 'kind', kind, 'kind_version', kind_version,
    'idempotency_key', idempotency_key, 'fingerprint', fingerprint,
    'fingerprint_version', fingerprint_version, 'status', status, 'agent_id', agent_id,
    'agent_run', agent_run, 'connection', connection, 'adapter', adapter,
    'provider_token', provider_token, 'plan', plan, 'provider_reference', provider_reference,
    'response_status', response_status, 'response_sha256', ${sha256Of('response_body')},
    'resolved_by', resolved_by) as facts,
    created_at, updated_at, settled_at, command,
    to_jsonb(o) -> 'policy_decision' as policy_decision
  from operations o where account_id = $1 and operation_id = $2`;

async function readRow(
  db: Queryable,
  accountId: string,
  operationId: string,
): Promise<Pick<EvidenceParts, 'row' | 'command' | 'policyDecision'> | undefined> {
  const { rows } = await db.query(ROW, [accountId, operationId]);
  const [found] = rows;
  if (!found) return undefined;
  const { facts, command, policy_decision: policyDecision, ...rest } = found;
  return { row: { ...facts, ...rest }, command, policyDecision };
}

/** What the approvers saw, and the decisions as the desk signed them; what they wrote is theirs and left out. */
const APPROVALS = `select a.approval_id, a.status, a.fingerprint, a.reason, a.round, a.quorum, a.approvers,
    a.own_requests, a.policy_version,
    a.preconditions, a.preconditions_read_at, a.difference,
    a.created_at, a.expires_at, a.decided_at, a.consumed_at,
    coalesce((select json_agg(json_build_object('principal_id', v.principal_id, 'owner', v.owner,
        'decision', v.decision, 'decided_at', v.decided_at, 'signed', v.signed)
        order by v.decided_at, v.owner)
      from approval_votes v where v.approval_id = a.approval_id), '[]') as votes
  from approvals a where a.operation_id = $1 order by a.created_at, a.approval_id`;

async function readApprovals(db: Queryable, operationId: string): Promise<ApprovalFacts[]> {
  const approvals = await objects<ApprovalFacts>(db, APPROVALS, operationId);
  return approvals.map((approval) => ({
    ...approval,
    // As it was signed.
    votes: approval.votes.map((vote) => ({
      ...vote,
      decided_at: timeInJson(vote.decided_at) ?? '',
    })),
  }));
}

const ATTEMPTS = `select number, purpose, started_at, ended_at, outcome, error ->> 'code' as error, worker,
    ${sha256Of('request_body')} as request_sha256
  from attempts where operation_id = $1 order by number`;

/** Answers, lookups and events of the provider, and persons: names and verdicts, of everything else a digest. */
const STATEMENTS = `select type, attempt, verdict, at,
    coalesce(detail ->> 'reference', detail ->> 'provider_reference') as reference,
    detail ->> 'match' as match, detail ->> 'state' as state, detail ->> 'reason' as reason,
    detail ->> 'principal_id' as principal_id, detail ->> 'step' as step,
    ${sha256Of('detail::text')} as detail_sha256
  from evidence where operation_id = $1 order by evidence_id`;

async function objects<T = JsonValue>(
  db: Queryable,
  sql: string,
  operationId: string,
): Promise<T[]> {
  const { rows } = await db.query(sql, [operationId]);
  return rows;
}

async function readEvents(db: Queryable, operationId: string): Promise<FiledEvent[]> {
  const { rows } = await db.query<FiledEvent>(
    `select ${AUDIT_ROW}, sequence, entry, hash
     from audit_events where operation_id = $1 order by event_id`,
    [operationId],
  );
  return rows;
}

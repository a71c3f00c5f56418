// Approvals with their votes, as one row of JSON each, as the domain's records.
import type { ApprovalRecord, ApprovalVote } from '../domain/approval-record.ts';
import { timeInJson } from './operation-rows.ts';
import type { Queryable } from './pool.ts';
import { run, type Prepared } from './prepared.ts';

type Row = Record<string, unknown>;

/** Column over `approvals p`: the whole approval as JSON, each vote in it in the order it was given. */
export const APPROVAL_RECORD = `to_jsonb(p) || jsonb_build_object('votes', (
  select coalesce(jsonb_agg(v order by v.decided_at, v.owner), '[]')
  from approval_votes v where v.approval_id = p.approval_id)) as approval_record`;

/** The record of a row that has the column above. */
export function approvalRecordFromRow(row: Row): ApprovalRecord {
  const one = row['approval_record'] as Row;
  return {
    approvalId: one['approval_id'] as string,
    operationId: one['operation_id'] as string,
    fingerprint: one['fingerprint'] as string,
    status: one['status'] as ApprovalRecord['status'],
    reason: one['reason'] as string,
    round: one['round'] as number,
    quorum: one['quorum'] as number,
    approvers: one['approvers'] as ApprovalRecord['approvers'],
    ownRequests: one['own_requests'] as boolean,
    policyVersion: one['policy_version'] as string | null,
    preconditions: one['preconditions'] as ApprovalRecord['preconditions'],
    preconditionsReadAt: timeInJson(one['preconditions_read_at']),
    difference: one['difference'] as ApprovalRecord['difference'],
    createdAt: timeInJson(one['created_at']) ?? '',
    expiresAt: timeInJson(one['expires_at']) ?? '',
    decidedAt: timeInJson(one['decided_at']),
    consumedAt: timeInJson(one['consumed_at']),
    votes: (one['votes'] as Row[]).map(voteFromRow),
  };
}

function voteFromRow(row: Row): ApprovalVote {
  return {
    owner: row['owner'] as string,
    principalId: row['principal_id'] as string,
    decision: row['decision'] as ApprovalVote['decision'],
    decidedAt: timeInJson(row['decided_at']) ?? '',
    comment: row['comment'] as string | null,
    signed: row['signed'],
  };
}

/** An approval of an operation by its id. Under the operation's lock it stays as it is. */
export async function readApproval(
  db: Queryable,
  operationId: string,
  approvalId: string,
): Promise<ApprovalRecord | undefined> {
  const { rows } = await db.query(
    `select ${APPROVAL_RECORD} from approvals p where p.operation_id = $1 and p.approval_id = $2`,
    [operationId, approvalId],
  );
  return rows[0] && approvalRecordFromRow(rows[0]);
}

const LATEST: Prepared = {
  name: 'latest_approval',
  text: `select ${APPROVAL_RECORD} from approvals p where p.operation_id = $1
     order by p.round desc limit 1`,
};

/** The approval that an operation has now: that of its newest round. */
export async function readLatestApproval(
  db: Queryable,
  operationId: string,
): Promise<ApprovalRecord | undefined> {
  const { rows } = await run(db, LATEST, [operationId]);
  return rows[0] && approvalRecordFromRow(rows[0]);
}

// What approvers read: approvals of their account with the operation each is about.
import type { ApprovalRecord } from '../domain/approval-record.ts';
import type { Operation } from '../domain/operation.ts';
import { APPROVAL_RECORD, approvalRecordFromRow } from './approval-rows.ts';
import { operationFromRow } from './operation-rows.ts';
import type { Queryable } from './pool.ts';

/** An approval, what it is about, and the owner behind the agent that asked. */
export interface ApprovalFile {
  readonly approval: ApprovalRecord;
  readonly operation: Operation;
  readonly requesterOwner: string;
}

/** A place in the list: the last approval of a page. */
export interface ApprovalPlace {
  readonly createdAt: string;
  readonly approvalId: string;
}

export interface ApprovalFilter {
  readonly accountId: string;
  readonly status: ApprovalRecord['status'];
  readonly before?: ApprovalPlace | undefined;
}

const FILES = `select o.*, r.owner as requester_owner, ${APPROVAL_RECORD}
  from approvals p join operations o using (operation_id)
  join principals r on r.principal_id = o.agent_id`;

/** At most `limit` approvals, newest first. Nobody is asked about one whose time is over or whose operation waits no more. */
export async function listApprovals(
  db: Queryable,
  { accountId, status, before }: ApprovalFilter,
  limit: number,
): Promise<ApprovalFile[]> {
  const { rows } = await db.query(
    `${FILES}
     where o.account_id = $1 and p.status = $2
       and (p.status <> 'pending'
         or o.status = 'AWAITING_APPROVAL' and p.expires_at > holdfast_now())
       and ($3::timestamptz is null or (p.created_at, p.approval_id) < ($3, $4::text))
     order by p.created_at desc, p.approval_id desc limit $5`,
    [accountId, status, before?.createdAt, before?.approvalId, limit],
  );
  return rows.map(fileFromRow);
}

/** One approval of an account. */
export async function findApproval(
  db: Queryable,
  accountId: string,
  approvalId: string,
): Promise<ApprovalFile | undefined> {
  const { rows } = await db.query(`${FILES} where o.account_id = $1 and p.approval_id = $2`, [
    accountId,
    approvalId,
  ]);
  return rows[0] && fileFromRow(rows[0]);
}

function fileFromRow(row: Record<string, unknown>): ApprovalFile {
  return {
    approval: approvalRecordFromRow(row),
    operation: operationFromRow(row),
    requesterOwner: row['requester_owner'] as string,
  };
}

/** The signed decisions of the approval that an operation has now, oldest first: what the engine is told. */
export async function signedDecisions(db: Queryable, operationId: string): Promise<unknown[]> {
  const { rows } = await db.query<{ signed: unknown }>(
    `select v.signed from approval_votes v join approvals p using (approval_id)
     where p.operation_id = $1 and p.round = (
       select max(round) from approvals where operation_id = $1)
     order by v.decided_at, v.owner`,
    [operationId],
  );
  return rows.map((row) => row.signed);
}

// The desk: a person's decision about an approval, in one transaction under the operation's lock. So of two decisions one is first,
// none crosses with the end of the offer, a cancellation or an intent, and what is refused leaves its trace as well.
import {
  signDecision,
  type DecisionSigner,
  type SignedDecision,
} from '../domain/approval-decision.ts';
import type { ApprovalRecord } from '../domain/approval-record.ts';
import {
  EXPIRED,
  isRepeat,
  refusalToDecide,
  type DecisionFacts,
  type DecisionRefusal,
} from '../domain/approval-rules.ts';
import type { ProblemCode } from '../domain/error-catalogue.ts';
import { fingerprintOf } from '../domain/fingerprint.ts';
import { operationProblem } from '../domain/operation-problem.ts';
import type { Operation, OperationFile } from '../domain/operation.ts';
import { readApproval } from './approval-rows.ts';
import { expireApproval } from './approvals.store.ts';
import { appendAudit, auditOf, type AuditEvent } from './audit.store.ts';
import { lockFile, type LockedFile } from './operations.store.ts';
import { enqueueForCaller } from './outbox.store.ts';
import type { Decider } from './person-statements.store.ts';
import type { Pool, Queryable } from './pool.ts';
import { submitterOwners } from './submitter-owners.store.ts';
import { inTransaction } from './transaction.ts';
import { moveOperation } from './transitions.store.ts';

export interface DecisionRequest {
  readonly approvalId: string;
  readonly by: Decider;
  /** The path with its parameters as names, for the audit. */
  readonly route: string;
  readonly wish: DecisionFacts['wish'];
  /** Somebody's words; kept beside the decision and nowhere else. */
  readonly comment: string | null;
}

export type DecisionResult =
  | { readonly status: 'not_found' }
  | { readonly status: 'refused'; readonly refusal: DecisionRefusal; readonly operation: Operation }
  /** The same person had said so before. */
  | { readonly status: 'recorded' }
  /** `messageId`: the outbox message that tells the engine. */
  | {
      readonly status: 'decided';
      readonly operation: Operation;
      readonly decision: SignedDecision;
      readonly messageId: string;
    };

/** Takes a decision, or refuses it; either way it is in the audit afterwards. Another account's approval is as good as absent. */
export async function decideApproval(
  pool: Pool,
  request: DecisionRequest,
  desk: DecisionSigner,
): Promise<DecisionResult> {
  return inTransaction(pool, async (db) => {
    const file = await lockFileOf(db, request.approvalId);
    const { operationId = '', accountId } = file?.operation ?? {};
    const approval = await readApproval(db, operationId, request.approvalId);
    if (!file || !approval || accountId !== request.by.accountId) {
      await appendAudit(db, [await refusalAudit(db, request, 'not_found')]);
      return { status: 'not_found' };
    }
    const facts: DecisionFacts = {
      ...request,
      approval,
      operationStatus: file.operation.status,
      submitterOwners: await submitterOwners(db, operationId),
    };
    if (isRepeat(facts)) return { status: 'recorded' };
    const refusal =
      refusalToDecide(facts) ?? refusalOfChanged(file) ?? (await endIfLate(db, file, approval));
    if (!refusal) return decide(db, file, facts, request, desk);
    await appendAudit(db, [await refusalAudit(db, request, refusal.code, file)]);
    return { status: 'refused', refusal, operation: file.operation };
  });
}

/** A card shows the command as it is stored; one that isn't what was claimed is nothing to agree to. */
function refusalOfChanged({ operation }: OperationFile): DecisionRefusal | undefined {
  if (fingerprintOf(operation) === operation.fingerprint) return undefined;
  const detail =
    'The stored command is not the one that was claimed; an operator has to look at it.';
  return { code: 'approval_fingerprint_mismatch', detail };
}

async function lockFileOf(db: Queryable, approvalId: string): Promise<LockedFile | undefined> {
  const { rows } = await db.query<{ operation_id: string }>(
    'select operation_id from approvals where approval_id = $1',
    [approvalId],
  );
  return rows[0] && lockFile(db, rows[0].operation_id);
}

/** Who comes late ends the offer by it, so that nobody is told "expired" of something that goes on. */
async function endIfLate(
  db: Queryable,
  file: LockedFile,
  { expiresAt }: ApprovalRecord,
): Promise<DecisionRefusal | undefined> {
  if (Date.parse(file.now) < Date.parse(expiresAt)) return undefined;
  await expireApproval(db, file);
  return EXPIRED;
}

/** Of another account's approval nothing is said but that somebody asked for it. */
async function refusalAudit(
  db: Queryable,
  { by, route, approvalId }: DecisionRequest,
  code: ProblemCode,
  file?: LockedFile,
): Promise<AuditEvent> {
  return {
    accountId: by.accountId,
    operationId: file?.operation.operationId ?? null,
    type: 'refused',
    at: file?.now ?? (await databaseTime(db)),
    principalId: by.principalId,
    route,
    detail: { code, approval_id: approvalId },
  };
}

async function databaseTime(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ now: string }>('select holdfast_now() as now');
  return rows[0]?.now ?? '';
}

async function decide(
  db: Queryable,
  file: LockedFile,
  { approval, wish, submitterOwners: submitters }: DecisionFacts,
  { by, route, comment }: DecisionRequest,
  desk: DecisionSigner,
): Promise<DecisionResult> {
  const { operation, now } = file;
  const signed = signDecision(
    desk,
    { operation, approval },
    { decision: wish.decision, approver: by, decidedAt: now },
  );
  const votes = await keepVote(db, signed, by, comment);
  const isLast = wish.decision === 'rejected' || votes >= approval.quorum;
  const event: AuditEvent = {
    ...auditOf(operation, 'approval_decided', now),
    principalId: by.principalId,
    agentRun: null,
    route,
    detail: {
      approval_id: approval.approvalId,
      // One event has the decision that decides; the words before it are votes.
      decision: isLast ? wish.decision : 'vote',
      kid: signed.kid,
      plan_hash: signed.plan_hash,
      votes,
      quorum: approval.quorum,
      ...(submitters.includes(by.owner) ? { own_request: true } : {}),
    },
  };
  if (isLast) await closeApproval(db, approval.approvalId, wish.decision, now);
  if (wish.decision === 'rejected') await reject(db, file, event, by);
  else await appendAudit(db, [event]);
  const messageId = await enqueueForCaller(db, operation.operationId, 'decide');
  return { status: 'decided', operation, decision: signed, messageId };
}

/** Keeps an owner's word, in the place of an earlier one; answers how many owners have agreed now. */
async function keepVote(
  db: Queryable,
  signed: SignedDecision,
  by: Decider,
  comment: string | null,
): Promise<number> {
  const { approval_id: approvalId, decision, decided_at: at } = signed;
  await db.query(
    `insert into approval_votes
       (approval_id, owner, principal_id, decision, decided_at, comment, signed)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (approval_id, owner) do update
     set principal_id = excluded.principal_id, decision = excluded.decision,
       decided_at = excluded.decided_at, comment = excluded.comment, signed = excluded.signed`,
    [approvalId, by.owner, by.principalId, decision, at, comment, JSON.stringify(signed)],
  );
  const { rows } = await db.query<{ votes: number }>(
    `select count(*)::int as votes from approval_votes
     where approval_id = $1 and decision = 'approved'`,
    [approvalId],
  );
  return rows[0]?.votes ?? 0;
}

async function closeApproval(
  db: Queryable,
  approvalId: string,
  status: 'approved' | 'rejected',
  now: string,
): Promise<void> {
  await db.query('update approvals set status = $2, decided_at = $3 where approval_id = $1', [
    approvalId,
    status,
    now,
  ]);
}

async function reject(
  db: Queryable,
  file: LockedFile,
  event: AuditEvent,
  by: Decider,
): Promise<void> {
  const approval = file.approval && { ...file.approval, status: 'rejected' as const };
  const rejected: OperationFile = { ...file, approval };
  const change = { to: 'REJECTED', error: operationProblem('approval_rejected') } as const;
  const options = { events: [event], by: by.principalId };
  const moved = await moveOperation(db, rejected, file.now, change, options);
  if (!moved) throw new Error(`operation ${file.operation.operationId} changed under its lock`);
}

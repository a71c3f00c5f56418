// The use cases of the approval desk: read what waits, and decide.
import { z } from 'zod';
import { HoldfastError } from '../domain/operation-error.ts';
import { findApproval, listApprovals, type ApprovalPlace } from '../store/approval-list.store.ts';
import { decideApproval, type DecisionRequest } from '../store/decisions.store.ts';
import type { Principal } from '../store/principals.store.ts';
import { recordRefusal } from '../store/refusals.store.ts';
import { approvalView } from './approval-view.ts';
import { cursorOf, parseCursor } from './cursor.ts';
import type { ApiDependencies } from './dependencies.ts';
import { approvalId } from './openapi/members.ts';
import type { ApprovalsQuery, ApprovalView } from './routes/approvals.contract.ts';

const Place = z.strictObject({
  createdAt: z.iso.datetime({ precision: 3 }).refine((time) => !Number.isNaN(Date.parse(time))),
  approvalId,
}) satisfies z.ZodType<ApprovalPlace>;

/** One page of the approvals of the principal's account. */
export async function approvalsPage(
  { pool }: Pick<ApiDependencies, 'pool'>,
  { accountId }: Principal,
  { status, cursor, limit }: ApprovalsQuery,
): Promise<{ approvals: ApprovalView[]; next_cursor: string | null }> {
  const before = cursor === undefined ? undefined : parseCursor(cursor, Place);
  // One more than is shown tells whether there is a next page.
  const files = await listApprovals(pool, { accountId, status, before }, limit + 1);
  const shown = files.slice(0, limit);
  const last = files.length > shown.length ? shown.at(-1)?.approval : undefined;
  return {
    approvals: shown.map(approvalView),
    next_cursor: last ? cursorOf({ createdAt: last.createdAt, approvalId: last.approvalId }) : null,
  };
}

/** One approval of the principal's account. */
export async function showApproval(
  { pool }: Pick<ApiDependencies, 'pool'>,
  { accountId }: Principal,
  id: string,
): Promise<ApprovalView> {
  const file = await findApproval(pool, accountId, id);
  if (!file) throw noSuchApproval();
  return approvalView(file);
}

/** Refuses everybody who is no approver, and writes that down with the operation that they wanted to decide about. */
export async function requireApprover(
  { pool }: Pick<ApiDependencies, 'pool'>,
  { by: principal, route, approvalId: id }: Attempted,
): Promise<void> {
  if (principal.roles.includes('approver')) return;
  const file = await findApproval(pool, principal.accountId, id);
  const operationId = file?.operation.operationId;
  const refusal = { principal, code: 'forbidden', route, operationId, approvalId: id };
  await recordRefusal(pool, refusal);
  throw new HoldfastError('forbidden', 'Only approvers decide.');
}

/** Who wants to decide about what. */
export type Attempted = Pick<DecisionRequest, 'approvalId' | 'route'> & { readonly by: Principal };

/** Takes the decision and tells the engine; answers the approval as it stands then. */
export async function decide(
  deps: Pick<ApiDependencies, 'pool' | 'desk' | 'startSoon' | 'logger'>,
  attempted: Attempted,
  said: Pick<DecisionRequest, 'wish' | 'comment'>,
): Promise<ApprovalView> {
  const { approvalId: id, by } = attempted;
  const result = await decideApproval(deps.pool, { ...attempted, ...said }, deps.desk);
  if (result.status === 'not_found') throw noSuchApproval();
  if (result.status === 'refused') {
    const { refusal, operation } = result;
    const members = { approval_id: id, operation_id: operation.operationId };
    throw new HoldfastError(refusal.code, refusal.detail, members);
  }
  if (result.status === 'decided') {
    const { operation, decision, messageId } = result;
    deps.startSoon.decide(operation, decision, messageId);
    const who = { operation_id: operation.operationId, approval_id: id };
    deps.logger.info({ ...who, decision: said.wish.decision }, 'a person has decided');
  }
  return showApproval(deps, by, id);
}

/** The same answer for an approval of another account and for one that never was. */
export function noSuchApproval(): HoldfastError {
  return new HoldfastError('not_found', 'There is no such approval.');
}

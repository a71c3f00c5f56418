// Waiting for people, and hearing of what they decided. The row says what was decided; the signatures in it say whether to believe that.
import { checkDecision, parseDecision } from '../domain/approval-decision.ts';
import { readApproval } from '../store/approval-rows.ts';
import { approvalToShow, showPreconditions } from '../store/approval-rounds.store.ts';
import { expireApprovalIfDue } from '../store/approvals.store.ts';
import { approvalStanding } from '../store/first-intent.store.ts';
import { readFile } from '../store/operations.store.ts';
import { recordRefusedDecision } from '../store/refused-decisions.store.ts';
import type { OperationActivities } from '../workflows/activities.contract.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { readPreconditions, schemeFor } from './first-intent.ts';
import { alertUnproved } from './observe.ts';

/** How soon the provider is asked again for what a card should show. */
const SHOW_AGAIN_MS = 30_000;

/** An approval that can't be proved may be proved once the right public keys are here; nobody is in a hurry for that. */
const UNPROVED_ASK_AGAIN_MS = 10 * 60_000;

export function createApprovalWait(
  deps: ActivityDependencies,
): OperationActivities['approvalWait'] {
  return async ({ operation_id: operationId }) => {
    const leftMs = await expireApprovalIfDue(deps.pool, operationId);
    if (leftMs === undefined || leftMs === 0) return null;
    const standing = await standingOrAlert(deps, operationId);
    if (standing === 'unproved') return Math.min(leftMs, UNPROVED_ASK_AGAIN_MS);
    if (standing !== 'pending') return null;
    const isShown = await showTarget(deps, operationId);
    return isShown ? leftMs : Math.min(leftMs, SHOW_AGAIN_MS);
  };
}

/** Puts on the card how the target stands at the provider. False where the provider doesn't say: people may decide without. */
async function showTarget(deps: ActivityDependencies, operationId: string): Promise<boolean> {
  const file = await readFile(deps.pool, operationId);
  if (!file) return true;
  const { kind, command, plan, connection } = file.operation;
  const provider = deps.providers(connection);
  if (!schemeFor(provider, file.operation)) return true;
  if ((await approvalToShow(deps.pool, operationId)) === undefined) return true;
  const requestBody = provider.adapter.requestFor(kind, command, plan.target);
  const read = await readPreconditions(deps, file.operation, requestBody);
  if (read?.status === 'read') await showPreconditions(deps.pool, operationId, read.values);
  return read?.status !== 'unavailable';
}

async function standingOrAlert(deps: ActivityDependencies, operationId: string) {
  const standing = await approvalStanding(deps.pool, operationId, deps.desk);
  if (standing === 'unproved') alertUnproved(deps, operationId);
  return standing;
}

export function createReceiveDecision(
  deps: ActivityDependencies,
): OperationActivities['receiveDecision'] {
  return async ({ operation_id: operationId }, sent) => {
    const { pool, desk, logger } = deps;
    const operation = (await readFile(pool, operationId))?.operation;
    if (!operation) return;
    const named = parseDecision(sent)?.approval_id;
    const approval = named === undefined ? undefined : await readApproval(pool, operationId, named);
    const checked = checkDecision(sent, approval && { operation, approval }, desk);
    if (typeof checked !== 'string') return;
    // Nothing of what was sent goes any further: it is somebody's text.
    await recordRefusedDecision(pool, operation, checked);
    logger.warn({ operation_id: operationId, code: checked }, 'refused a decision past the desk');
  };
}

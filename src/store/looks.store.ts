// The ledger side of reconciliation: opening it, and writing down what a look found together with what follows from it.
import type { LookupAnswer, UnknownReason } from '../domain/outcome.ts';
import type { Operation, OperationFile } from '../domain/operation.ts';
import { isOutcomeOpen } from '../domain/operation-state.ts';
import type { NextStep, Situation } from '../domain/reconciliation.ts';
import { changeByDefinite, changeByReview, type Change } from '../domain/settlement.ts';
import { appendAudit, auditOf } from './audit.store.ts';
import { absentLooks, recordEvidence, unknownReasons } from './evidence.store.ts';
import { lockFile, type LockedFile } from './operations.store.ts';
import type { Pool, Queryable } from './pool.ts';
import { inTransaction } from './transaction.ts';
import { moveOperation } from './transitions.store.ts';

/**
 * Marks an operation as being asked about: UNKNOWN first where an attempt never ended, then RECONCILING. A pending one keeps its
 * state. Undefined where there is nothing to ask about any more.
 */
export async function openReconciliation(
  pool: Pool,
  operationId: string,
): Promise<OperationFile | undefined> {
  return inTransaction(pool, async (db) => {
    const file = await lockFile(db, operationId);
    if (!file) return undefined;
    // A person may want to see what the provider says now: that look changes nothing by itself.
    if (file.operation.status === 'NEEDS_REVIEW') return file;
    if (!isOutcomeOpen(file.operation.status)) return undefined;
    return advanceTo(db, await closeLostAttempts(db, file));
  });
}

/** An attempt without an end belongs to a worker that is gone, or late: its outcome is unknown until evidence says more. */
async function closeLostAttempts(db: Queryable, file: LockedFile): Promise<LockedFile> {
  const lost = file.attempts.some((one) => one.outcome === null);
  if (!lost) return file;
  const error = { code: 'worker_lost', message: 'The worker was lost during this attempt.' };
  await db.query(
    `update attempts set outcome = 'unknown', error = $2, ended_at = $3
     where operation_id = $1 and outcome is null`,
    [file.operation.operationId, error, file.now],
  );
  const attempts = file.attempts.map((one) =>
    one.outcome === null ? { ...one, outcome: 'unknown' as const, error, endedAt: file.now } : one,
  );
  return { ...file, attempts };
}

async function advanceTo(db: Queryable, file: LockedFile): Promise<OperationFile> {
  const unresolved = file.attempts.some((one) => one.outcome === 'unknown');
  let current: OperationFile = file;
  if (unresolved && current.operation.status === 'IN_PROGRESS') {
    current = (await moveOperation(db, current, file.now, { to: 'UNKNOWN' })) ?? current;
  }
  if (current.operation.status === 'UNKNOWN') {
    current = (await moveOperation(db, current, file.now, { to: 'RECONCILING' })) ?? current;
  }
  return current;
}

/** Writes down one look, judges it in the light of the ledger as it stands now, and applies what follows. */
export async function recordLook(
  pool: Pool,
  operationId: string,
  answer: LookupAnswer,
  judge: (situation: Situation) => NextStep,
): Promise<{ file: OperationFile; step: NextStep }> {
  return inTransaction(pool, async (db) => {
    const file = await lockFile(db, operationId);
    if (!file) throw new Error(`no operation ${operationId}`);
    const step = judge(await situationOf(db, file));
    await writeLook(db, file, answer);
    const change = changeOf(file.operation, step);
    const moved = change && (await moveOperation(db, file, file.now, change));
    return { file: moved ?? file, step };
  });
}

async function situationOf(db: Queryable, file: LockedFile): Promise<Situation> {
  const { operation, attempts, now } = file;
  const intents = attempts.map((one) => Date.parse(one.startedAt));
  const reasons = await unknownReasons(db, operation.operationId);
  return {
    plan: operation.plan.reconcile,
    nowMs: Date.parse(now),
    openSinceMs: Date.parse(operation.unknownSince ?? attempts[0]?.endedAt ?? operation.createdAt),
    lastIntentMs: Math.max(...intents),
    accepted: attempts.some((one) => one.outcome === 'pending'),
    unknownReasons: reasons as UnknownReason[],
    absentLooksMs: (await absentLooks(db, operation.operationId)).map((at) => Date.parse(at)),
    // A refused resend decides nothing and is not counted (contract §6.2).
    resends: attempts.filter((one) => one.purpose === 'resend' && one.outcome !== 'not_sent')
      .length,
    lastRefused: attempts.at(-1)?.outcome === 'not_sent',
    safeResendUntilMs: Date.parse(operation.safeResendUntil ?? now),
  };
}

async function writeLook(db: Queryable, file: LockedFile, answer: LookupAnswer): Promise<void> {
  const { operation, now } = file;
  const { status, ...said } = answer;
  await recordEvidence(db, {
    operationId: operation.operationId,
    type: 'lookup',
    verdict: status,
    detail: said,
    at: now,
  });
  await appendAudit(db, [{ ...auditOf(operation, 'lookup', now), detail: { answer: status } }]);
}

function changeOf(operation: Operation, step: NextStep): Change | undefined {
  if (step.next === 'settle') return changeByDefinite(operation, step.definite);
  return step.next === 'review' ? changeByReview(operation, step.reason) : undefined;
}

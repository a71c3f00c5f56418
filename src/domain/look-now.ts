// When a person may have the provider asked at once.
import { needsReconciliation, type OperationFile } from './operation.ts';

/**
 * True where what happened is open or in dispute. A call that may still be answered is not open: it is being worked on, and asking now
 * would count it as lost.
 */
export function mayLookNow(file: OperationFile, nowMs: number): boolean {
  const { status, plan } = file.operation;
  if (status === 'UNKNOWN' || status === 'RECONCILING' || status === 'NEEDS_REVIEW') return true;
  const windowMs = plan.reconcile.send_window_ms;
  const underWay = file.attempts.some(
    (one) => one.outcome === null && nowMs < Date.parse(one.startedAt) + windowMs,
  );
  return !underWay && needsReconciliation(file);
}

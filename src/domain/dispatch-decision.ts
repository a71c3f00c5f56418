// Whether an operation may be sent now, judged from its row and its ledger alone. A dispatch that runs again, for whatever reason,
// finds here what the first one left behind.
import { onlyRefused, type OperationFile } from './operation.ts';

export type DispatchDecision =
  | { readonly move: 'send'; readonly number: number }
  /** The last try was definitely refused; the next has its own delay. */
  | { readonly move: 'retry'; readonly attempt: number }
  | { readonly move: 'reconcile' }
  | { readonly move: 'wait_for_approval' }
  | { readonly move: 'done' };

/** What a dispatch asked to make attempt `wanted` may do. */
export function decideDispatch(file: OperationFile, wanted: number): DispatchDecision {
  switch (file.operation.status) {
    case 'PENDING':
      return { move: 'send', number: 1 };
    case 'AWAITING_APPROVAL':
      return file.approval?.status === 'approved'
        ? { move: 'send', number: 1 }
        : { move: 'wait_for_approval' };
    case 'IN_PROGRESS':
      return decideNextAttempt(file, wanted);
    case 'UNKNOWN':
    case 'RECONCILING':
      return { move: 'reconcile' };
    case 'NEEDS_REVIEW':
    case 'SUCCEEDED':
    case 'FAILED':
    case 'REJECTED':
    case 'EXPIRED':
    case 'CANCELED':
      return { move: 'done' };
  }
}

function decideNextAttempt({ attempts }: OperationFile, wanted: number): DispatchDecision {
  const last = attempts.at(-1);
  // Sending again is right only where every earlier attempt was definitely refused.
  if (!last || !onlyRefused(attempts)) return { move: 'reconcile' };
  return wanted > last.number
    ? { move: 'send', number: last.number + 1 }
    : { move: 'retry', attempt: last.number };
}

/** True where reconciliation may send once more: its judgement was made under the lock, and nothing has changed since. */
export function mayResend({ operation, attempts }: OperationFile): boolean {
  const counted = attempts.filter((one) => one.purpose === 'resend' && one.outcome !== 'not_sent');
  const definite = attempts.some((one) => one.outcome === null);
  return (
    operation.status === 'RECONCILING' &&
    !definite &&
    counted.length < operation.plan.reconcile.max_resends
  );
}

// All activities of the worker, over their dependencies.
import { cancelBeforeIntent } from '../store/cancellations.store.ts';
import { storeAttemptOutcome } from '../store/attempts.store.ts';
import type { OperationActivities } from '../workflows/activities.contract.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { createApprovalWait, createReceiveDecision } from './approval.activity.ts';
import { createDispatch, createResend } from './dispatch.activity.ts';
import { createLookUpOutcome } from './look-up-outcome.activity.ts';
import { observeRecorded } from './observe.ts';
import { withQuietErrors } from './quiet-errors.ts';
import { stepAfter } from './send.ts';

export function createActivities(deps: ActivityDependencies): OperationActivities {
  return withQuietErrors({
    dispatch: createDispatch(deps),
    resend: createResend(deps),
    lookUpOutcome: createLookUpOutcome(deps),
    recordOutcome: async ({ operation_id }, attempt, outcome) => {
      const file = await storeAttemptOutcome(deps.pool, operation_id, attempt, outcome);
      observeRecorded(deps, file, attempt, outcome);
      return stepAfter(file);
    },
    cancelBeforeIntent: async ({ operation_id }) => {
      await cancelBeforeIntent(deps.pool, operation_id);
    },
    approvalWait: createApprovalWait(deps),
    receiveDecision: createReceiveDecision(deps),
  });
}

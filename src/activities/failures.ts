// The translator to Temporal's failures. Expected results are values; what fails here is either tried again or can't ever work.
import { ApplicationFailure } from '@temporalio/common';

/** The row of a workflow is missing: trying again won't bring it back. */
export function notFound(operationId: string): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'operation_not_found',
    message: `no operation ${operationId}`,
    nonRetryable: true,
  });
}

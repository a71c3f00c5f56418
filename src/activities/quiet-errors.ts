// An error that leaves an activity ends in Temporal's history. It is told there as in the log: what broke, without what it was about.
import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import { errorSummary } from '../observability/error-summary.ts';
import type { OperationActivities } from '../workflows/activities.contract.ts';

/** The activities with errors that quote no data; the engine's own failures, such as a cancellation, pass as they are. */
export function withQuietErrors(activities: OperationActivities): OperationActivities {
  const quiet = Object.entries(activities).map(([name, run]) => [name, quietly(run as Activity)]);
  return Object.fromEntries(quiet) as OperationActivities;
}

type Activity = (...input: unknown[]) => Promise<unknown>;

function quietly(run: Activity): Activity {
  return async (...input) => {
    try {
      return await run(...input);
    } catch (error) {
      if (error instanceof TemporalFailure) throw error;
      throw ApplicationFailure.create(toldOf(error));
    }
  };
}

function toldOf(error: unknown): { readonly type: string; readonly message: string } {
  const { type, code, message } = errorSummary(error);
  return { type, message: [code, message].filter((one) => one !== undefined).join(': ') || type };
}

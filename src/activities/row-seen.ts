// How the row stands, told to the run with each step so that people can see it there.
import type { Operation } from '../domain/operation.ts';
import { readFile } from '../store/operations.store.ts';
import type {
  DispatchStep,
  LookStep,
  OperationInput,
  RowSeen,
} from '../workflows/activities.contract.ts';
import type { ActivityDependencies } from './dependencies.ts';

export function rowSeen({ status, unknownSince }: Operation): RowSeen {
  return { status, unknown_since: unknownSince };
}

/** The step with the row as it is now, where whoever made the step had not read it. Never fails on it. */
export async function withRow<Step extends DispatchStep | LookStep>(
  { pool }: Pick<ActivityDependencies, 'pool'>,
  { operation_id }: OperationInput,
  step: Step,
): Promise<Step> {
  if (step.row || step.next === 'again' || step.next === 'record') return step;
  const file = await readFile(pool, operation_id).catch(() => undefined);
  return file ? { ...step, row: rowSeen(file.operation) } : step;
}

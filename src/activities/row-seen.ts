// How the row stands, told to the run with each step so that people can see it there.
import type { Operation } from '../domain/operation.ts';
import { operationAttributes } from '../observability/operation-attributes.ts';
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

/** The step with the row as it is now, where nothing was sent and so nobody has read it since. Never fails on it. */
export async function withRow<Step extends DispatchStep | LookStep>(
  { pool, logger }: Pick<ActivityDependencies, 'pool' | 'logger'>,
  { operation_id }: OperationInput,
  step: Step,
): Promise<Step> {
  if (step.row || step.next === 'again' || step.next === 'record') return step;
  const file = await readFile(pool, operation_id).catch(() => undefined);
  if (!file) return step;
  const { operation } = file;
  const attributes = {
    ...operationAttributes(operation),
    next: step.next,
    state: operation.status,
  };
  logger.info(attributes, 'nothing sent');
  return { ...step, row: rowSeen(operation) };
}

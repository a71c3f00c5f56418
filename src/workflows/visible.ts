// What an operator sees of a run from outside: search attributes and current details. Neither decides anything. A change of attributes is
// one command more in a task that is completed anyway; the details are only told to whoever asks.
import type { SearchAttributeUpdatePair } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { DispatchStep, LookStep, OperationInput, RowSeen } from './activities.contract.ts';
import { OPERATION_STATES } from '../domain/operation-state.ts';
import { operatorText, type Standing } from './operator-text.ts';
import { OPERATION_STATUS, UNKNOWN_SINCE } from './search-attributes.contract.ts';

type Step = DispatchStep | LookStep;

/** Says how the operation stood when its run was started. */
export function showStart({ operation_id }: OperationInput): void {
  const started = workflowInfo().typedSearchAttributes.get(OPERATION_STATUS);
  const status = OPERATION_STATES.find((one) => one === started) ?? 'PENDING';
  setCurrentDetails(operatorText(status, operation_id, status));
}

/** Says how it stands after an activity. */
export function showStep({ operation_id }: OperationInput, step: Step): void {
  const { row } = step;
  const standing = standingAfter(step);
  if (standing) setCurrentDetails(operatorText(standing, operation_id, row?.status));
  if (row) showRow(row);
}

/** Says how it stands after its reconciliation; undefined where that could not be learned. */
export function showEnd(input: OperationInput, row: RowSeen | undefined): void {
  if (row) showStep(input, { next: 'done', row });
}

function standingAfter({ next, row }: Step): Standing | undefined {
  if (next === 'held') return 'held';
  if (next === 'retry') return 'refused';
  if (next === 'unreadable') return 'target_unreadable';
  if (next === 'again') return row?.status ?? 'unreadable';
  if (row?.status === 'IN_PROGRESS') return 'at_provider';
  return row?.status;
}

/** A run that was started without these attributes, because its namespace has none, must not name them either: that would stop it. */
function showRow(row: RowSeen): void {
  const shown = workflowInfo().typedSearchAttributes;
  const status = shown.get(OPERATION_STATUS);
  if (status === undefined) return;
  const changes: SearchAttributeUpdatePair[] = [];
  if (status !== row.status) changes.push({ key: OPERATION_STATUS, value: row.status });
  if (row.unknown_since !== null && shown.get(UNKNOWN_SINCE) === undefined) {
    changes.push({ key: UNKNOWN_SINCE, value: new Date(row.unknown_since) });
  }
  if (changes.length > 0) upsertSearchAttributes(changes);
}

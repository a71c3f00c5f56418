// Starting workflows. "Already started" always means attach: which request a key belongs to was decided in Postgres, never here.
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  WorkflowNotFoundError,
  type Client,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { reconcileWorkflowIdFor, workflowIdFor } from '../domain/idempotency-key.ts';
import type { Operation } from '../domain/operation.ts';
import type { OperationInput } from '../workflows/activities.contract.ts';
import type { executeOperation, reconcileOperation } from '../workflows/index.ts';

/** The client has no deadline of its own; a start that takes longer is left to the relay. */
const CALL_DEADLINE_MS = 5_000;

export interface WorkflowStarter {
  /** Starts the run of a new operation; a run that exists, open or closed, is left alone. */
  start(operation: Operation): Promise<void>;
  /** Recovery's start: an open run is left alone, a closed or forgotten one is followed by a new run that begins at the row. */
  restart(operation: Operation): Promise<void>;
  /** The same for the reconciliation of an operation. */
  restartReconciliation(operation: Operation): Promise<void>;
  /** True while the operation's own run is open. */
  isRunning(operation: Operation): Promise<boolean>;
}

export function createWorkflowStarter(client: Client, taskQueue: string): WorkflowStarter {
  const withDeadline = <T>(call: () => Promise<T>): Promise<T> =>
    client.connection.withDeadline(Date.now() + CALL_DEADLINE_MS, call);

  const start = async (
    type: 'executeOperation' | 'reconcileOperation',
    operation: Operation,
    workflowIdReusePolicy: WorkflowIdReusePolicy,
  ): Promise<void> => {
    const options: WorkflowStartOptions<typeof executeOperation | typeof reconcileOperation> = {
      taskQueue,
      workflowId: workflowIdOf(type, operation),
      args: [inputOf(operation)],
      workflowIdReusePolicy,
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      staticSummary: `${operation.kind} ${operation.operationId}`,
    };
    try {
      await withDeadline(() => client.workflow.start(type, options));
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  };

  return {
    start: (operation) =>
      start('executeOperation', operation, WorkflowIdReusePolicy.REJECT_DUPLICATE),
    restart: (operation) =>
      start('executeOperation', operation, WorkflowIdReusePolicy.ALLOW_DUPLICATE),
    restartReconciliation: (operation) =>
      start('reconcileOperation', operation, WorkflowIdReusePolicy.ALLOW_DUPLICATE),
    isRunning: (operation) =>
      withDeadline(() => describeIsRunning(client, workflowIdOf('executeOperation', operation))),
  };
}

async function describeIsRunning(client: Client, workflowId: string): Promise<boolean> {
  try {
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return status.name === 'RUNNING';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

function workflowIdOf(
  type: 'executeOperation' | 'reconcileOperation',
  { accountId, idempotencyKey, operationId }: Operation,
): string {
  return type === 'executeOperation'
    ? workflowIdFor(accountId, idempotencyKey)
    : reconcileWorkflowIdFor(accountId, operationId);
}

function inputOf(operation: Operation): OperationInput {
  return {
    operation_id: operation.operationId,
    account_id: operation.accountId,
    kind: operation.kind,
    fingerprint: operation.fingerprint,
    plan: operation.plan,
  };
}

// Starting workflows. "Already started" always means attach: which request a key belongs to was decided in Postgres, never here.
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  WorkflowNotFoundError,
  type Client,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { TypedSearchAttributes, type SearchAttributePair } from '@temporalio/common';
import { reconcileWorkflowIdFor, workflowIdFor } from '../domain/idempotency-key.ts';
import type { Operation } from '../domain/operation.ts';
import { operationAttributes } from '../observability/operation-attributes.ts';
import type { SpanRequest, Tracing } from '../observability/tracing.ts';
import { engineAnswers } from './connection.ts';
import { isLasting } from './engine-errors.ts';
import type { OperationInput } from '../workflows/activities.contract.ts';
import type { executeOperation, reconcileOperation } from '../workflows/index.ts';
import {
  ACCOUNT_ID,
  CONNECTION,
  OPERATION_KIND,
  OPERATION_STATUS,
  UNKNOWN_SINCE,
} from '../workflows/search-attributes.contract.ts';

export interface WorkflowStarter {
  /** Starts the run of a new operation; a run that exists, open or closed, is left alone. */
  start(operation: Operation): Promise<void>;
  /** Recovery's start: an open run is left alone, a closed or forgotten one is followed by a new run that begins at the row. */
  restart(operation: Operation): Promise<void>;
  /** The same for the reconciliation of an operation. */
  restartReconciliation(operation: Operation): Promise<void>;
  /** Tells the open runs of an operation that its row changed; none may be open. */
  wake(operation: Operation): Promise<void>;
  /** Hands people's signed decisions to the operation's open run; none may be open, a later one finds them in the row. */
  decide(operation: Operation, decisions: readonly unknown[]): Promise<void>;
  /** Has the provider asked now, by the open reconciliation or by a new one. */
  lookNow(operation: Operation): Promise<void>;
  /** True while the operation's own run is open. */
  isRunning(operation: Operation): Promise<boolean>;
  /** True where the engine answers at all: tells a request that fails from an engine that is away. */
  answers(): Promise<boolean>;
}

export function createWorkflowStarter(
  client: Client,
  taskQueue: string,
  tracing: Tracing,
): WorkflowStarter {
  const start = async (
    type: WorkflowType,
    operation: Operation,
    workflowIdReusePolicy: WorkflowIdReusePolicy,
  ): Promise<void> => {
    const options = { ...optionsOf(type, operation, taskQueue), workflowIdReusePolicy };
    try {
      await tracing.within(spanOf(type, operation), () =>
        searchableIfPossible(options, (one) => client.workflow.start(type, one)),
      );
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
    wake: (operation) => signalOpenRuns(client, operation),
    decide: async (operation, decisions) => {
      const handle = client.workflow.getHandle(workflowIdOf('executeOperation', operation));
      const tell = (one: unknown) => whereOpen(() => handle.signal('approval_decision', one));
      await Promise.all(decisions.map(tell));
    },
    lookNow: async (operation) => {
      const options = optionsOf('reconcileOperation', operation, taskQueue);
      await searchableIfPossible(options, (one) =>
        client.workflow.signalWithStart('reconcileOperation', {
          ...one,
          workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
          signal: 'row_changed',
        }),
      );
    },
    isRunning: (operation) =>
      describeIsRunning(client, workflowIdOf('executeOperation', operation)),
    answers: () => engineAnswers(client),
  };
}

type WorkflowType = 'executeOperation' | 'reconcileOperation';

/** Starts without search attributes where they are refused: a namespace that lacks them must not keep operations from being done. */
async function searchableIfPossible<Options extends StartOptions>(
  options: Options,
  start: (options: Options) => Promise<unknown>,
): Promise<void> {
  try {
    await start(options);
  } catch (error) {
    if (!isLasting(error)) throw error;
    const { typedSearchAttributes: _, ...plain } = options;
    await start(plain as Options);
  }
}

type StartOptions = WorkflowStartOptions<typeof executeOperation | typeof reconcileOperation>;

function optionsOf(type: WorkflowType, operation: Operation, taskQueue: string): StartOptions {
  return {
    taskQueue,
    workflowId: workflowIdOf(type, operation),
    args: [inputOf(operation)],
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    staticSummary: `${operation.kind} ${operation.operationId}`,
    typedSearchAttributes: searchAttributesOf(operation),
    memo: memoOf(operation),
  };
}

function searchAttributesOf(operation: Operation): TypedSearchAttributes {
  const { kind, status, accountId, connection, unknownSince } = operation;
  const pairs: SearchAttributePair[] = [
    { key: OPERATION_KIND, value: kind },
    { key: OPERATION_STATUS, value: status },
    { key: ACCOUNT_ID, value: accountId },
    { key: CONNECTION, value: connection },
  ];
  if (unknownSince !== null) pairs.push({ key: UNKNOWN_SINCE, value: new Date(unknownSince) });
  return new TypedSearchAttributes(pairs);
}

function spanOf(type: WorkflowType, operation: Operation): SpanRequest {
  const { trace_id: _, ...attributes } = operationAttributes(operation);
  return {
    name: `start ${type}`,
    kind: 'client',
    parent: operation.traceparent,
    attributes: { ...attributes, workflow_id: workflowIdOf(type, operation) },
  };
}

/** What led to the operation, for whoever looks at its run. */
function memoOf({ agentRun, traceparent }: Operation): Record<string, string> {
  return {
    ...(agentRun === null ? {} : { agent_run: agentRun }),
    ...(traceparent === null ? {} : { traceparent }),
  };
}

/** At once: each call has the whole deadline, and the relay's lease is for one (`outbox.store.ts`). */
async function signalOpenRuns(client: Client, operation: Operation): Promise<void> {
  const tell = (type: WorkflowType) =>
    whereOpen(() => client.workflow.getHandle(workflowIdOf(type, operation)).signal('row_changed'));
  await Promise.all([tell('executeOperation'), tell('reconcileOperation')]);
}

/** A run that is closed has nothing more to learn, and one that isn't there yet begins at the row. */
async function whereOpen(tell: () => Promise<void>): Promise<void> {
  try {
    await tell();
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
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
  type: WorkflowType,
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

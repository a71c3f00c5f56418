// What each log line about an operation carries, so that one operation can be followed through all processes. Ids and names only.
import type { Operation } from '../domain/operation.ts';
import type { OperationState } from '../domain/operation-state.ts';
import { traceIdOf } from './trace.ts';

/** Identity of an operation for a log line. */
export function operationAttributes(operation: Operation) {
  return {
    operation_id: operation.operationId,
    idempotency_key: operation.idempotencyKey,
    kind: operation.kind,
    connection: operation.connection,
    agent_id: operation.agentId,
    agent_run: operation.agentRun ?? undefined,
    trace_id: traceIdOf(operation.traceparent),
    provider_reference: operation.providerReference ?? undefined,
  };
}

/** The `state_transition` attribute; undefined where the state stayed. */
export function stateTransition(from: OperationState, to: OperationState): string | undefined {
  return from === to ? undefined : `${from} -> ${to}`;
}

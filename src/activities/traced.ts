// The spans of the executing side, with the attributes that its log lines carry. They continue the trace of the request that submitted
// the operation, however long ago that was.
import type { Operation, OperationFile } from '../domain/operation.ts';
import type { LookupAnswer, ProviderCall, WriteOutcome } from '../domain/outcome.ts';
import type { PreconditionAnswer } from '../domain/precondition.ts';
import { operationAttributes, stateTransition } from '../observability/operation-attributes.ts';
import type { SpanAttributes } from '../observability/tracing.ts';
import type { DispatchStep, LookStep } from '../workflows/activities.contract.ts';
import type { ActivityDependencies } from './dependencies.ts';

type Traced = Pick<ActivityDependencies, 'tracing'>;

/** Does what an activity does about an operation in a span of its own. */
export function traceActivity<Step extends DispatchStep | LookStep>(
  { tracing }: Traced,
  name: 'dispatch' | 'look up' | 'resend',
  { operation }: OperationFile,
  work: () => Promise<Step>,
): Promise<Step> {
  const attributes = attributesOf(operation);
  const span = { name, kind: 'internal', parent: operation.traceparent, attributes } as const;
  return tracing.within(span, async (open) => {
    const step = await work();
    const state = step.row?.status;
    const transition = state && stateTransition(operation.status, state);
    open.add({ next: step.next, state, state_transition: transition });
    return step;
  });
}

/** Makes one call to the provider in a span; `make` is given the traceparent that the provider continues. */
export function traceCall<Answer extends WriteOutcome | LookupAnswer | PreconditionAnswer>(
  { tracing }: Traced,
  operation: Operation,
  call: ProviderCall,
  attemptNumber: number | undefined,
  make: (traceparent: string | null) => Promise<Answer>,
): Promise<Answer> {
  const attributes = { ...attributesOf(operation), attempt_number: attemptNumber };
  const name = `${operation.adapter} ${call}`;
  const span = { name, kind: 'client', parent: operation.traceparent, attributes } as const;
  return tracing.within(span, async (open) => {
    const answer = await make(open.traceparent);
    const reference = 'reference' in answer ? answer.reference : undefined;
    open.add({ outcome: answer.status, provider_reference: reference });
    return answer;
  });
}

/** The trace id is the span's own. */
function attributesOf(operation: Operation): SpanAttributes {
  const { trace_id: _, ...attributes } = operationAttributes(operation);
  return attributes;
}

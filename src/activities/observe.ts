// What the executing side counts and logs: attempts, looks, and operations that a worker saw end. None of it may change what happens:
// a number that can't be counted must not cost the answer of a provider.
import type { Operation, OperationFile } from '../domain/operation.ts';
import { isSettled, type OperationState } from '../domain/operation-state.ts';
import type { Evidence, LookupAnswer, ProviderCall, WriteOutcome } from '../domain/outcome.ts';
import type { PreconditionAnswer } from '../domain/precondition.ts';
import { operationAttributes, stateTransition } from '../observability/operation-attributes.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { traceCall } from './traced.ts';

type Watched = Pick<ActivityDependencies, 'metrics' | 'logger' | 'tracing'>;

/** Codes of an exchange whose deadline ended it; all others lost their connection. */
const TIMEOUTS = new Set(['deadline_exceeded', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** An answer and how long it took by the monotonic clock. */
export interface Timed<Answer> {
  readonly answer: Answer;
  readonly durationMs: number;
}

/** Makes one call to the operation's provider, counts it, and traces it: `make` is given the traceparent to send along. */
export async function observeCall<Answer extends WriteOutcome | LookupAnswer | PreconditionAnswer>(
  deps: Watched,
  operation: Operation,
  call: ProviderCall,
  attemptNumber: number | undefined,
  make: (traceparent: string | null) => Promise<Answer>,
): Promise<Timed<Answer>> {
  const { kind, adapter } = operation;
  const began = performance.now();
  const answer = await traceCall(deps, operation, call, attemptNumber, make);
  const durationMs = performance.now() - began;
  harmlessly(deps, ({ providerCalls, providerCallDuration }) => {
    providerCalls.inc({ kind, adapter, call, outcome: outcomeLabel(answer) });
    providerCallDuration.observe({ adapter, call }, durationMs / 1_000);
  });
  return { answer, durationMs };
}

function outcomeLabel(answer: WriteOutcome | LookupAnswer | PreconditionAnswer): string {
  const timedOut = isTimeout(answer.evidence);
  if (answer.status === 'unavailable') return timedOut ? 'timeout' : answer.status;
  if (answer.status !== 'unknown') return answer.status;
  return answer.reason === 'lost_answer' && timedOut ? 'timeout' : answer.reason;
}

const isTimeout = ({ code }: Evidence): boolean => typeof code === 'string' && TIMEOUTS.has(code);

/** Logs that an attempt is about to be sent. */
export function observeIntent(
  { logger }: Watched,
  read: OperationFile,
  { operation }: OperationFile,
  attemptNumber: number,
): void {
  const attributes = {
    ...operationAttributes(operation),
    attempt_number: attemptNumber,
    state: operation.status,
    state_transition: stateTransition(read.operation.status, operation.status),
  };
  logger.info(attributes, 'attempt begun');
}

/** Somebody wrote into the register, or this worker lacks a public key of the desk: a person has to find out which. */
export function alertUnproved(deps: Watched, operationId: string): void {
  deps.logger.error({ operation_id: operationId }, 'approved without proof: nothing is sent');
  harmlessly(deps, ({ approvalsUnproved }) => approvalsUnproved.inc());
}

interface ObservedAttempt extends Timed<WriteOutcome> {
  readonly number: number;
  /** The state in which it was sent. */
  readonly from: OperationState;
}

/** Logs how an attempt ended, and counts its operation where that was its end. */
export function observeAttempt(
  deps: Watched,
  file: OperationFile,
  { number, from, answer, durationMs }: ObservedAttempt,
): void {
  const { operation } = file;
  const attributes = {
    ...operationAttributes(operation),
    attempt_number: number,
    outcome: answer.status,
    reason: 'reason' in answer ? answer.reason : undefined,
    execution_duration_ms: Math.round(durationMs),
    state: operation.status,
    state_transition: stateTransition(from, operation.status),
  };
  deps.logger.info(attributes, 'attempt answered');
  // A reconciliation counts its operation itself, when it ends.
  if (from === 'IN_PROGRESS') observeEnd(deps, file);
}

/** Logs an answer that its dispatch could not store; how long it took is in no log. */
export function observeRecorded(
  deps: Watched,
  file: OperationFile,
  attemptNumber: number,
  { status: outcome }: WriteOutcome,
): void {
  const { operation } = file;
  const attributes = {
    ...operationAttributes(operation),
    attempt_number: attemptNumber,
    outcome,
    state: operation.status,
  };
  deps.logger.info(attributes, 'answer recorded late');
  // In a reconciliation the next look counts it.
  if (operation.unknownSince === null) observeEnd(deps, file);
}

/** Logs one look; `before` is the file as it was read for it. */
export function observeLook(
  { logger }: Watched,
  before: OperationFile,
  { operation, attempts }: OperationFile,
  { answer, durationMs }: Timed<LookupAnswer>,
): void {
  const attributes = {
    ...operationAttributes(operation),
    attempt_number: attempts.at(-1)?.number,
    lookup: answer.status,
    execution_duration_ms: Math.round(durationMs),
    state: operation.status,
    state_transition: stateTransition(before.operation.status, operation.status),
  };
  logger.info(attributes, 'looked up');
}

/** Counts an operation that has come to its end here: settled, or with a person. */
function observeEnd(deps: Watched, { operation, attempts }: OperationFile): void {
  const { kind, adapter, status, settledAt } = operation;
  const settled = isSettled(status);
  const [first] = attempts;
  if (!first || (!settled && status !== 'NEEDS_REVIEW')) return;
  harmlessly(deps, ({ retries, executionDuration }) => {
    retries.observe({ kind, adapter }, attempts.length - 1);
    if (!settled || settledAt === null) return;
    const tookMs = Date.parse(settledAt) - Date.parse(first.startedAt);
    executionDuration.observe({ kind, adapter, state: status }, tookMs / 1_000);
  });
}

/** The same for one that reconciliation leaves: its run ends here, once, whoever settled it. */
export function observeReconciled(deps: Watched, file: OperationFile): void {
  const { kind, adapter, status, resolvedBy } = file.operation;
  const byWhom = resolvedBy === null ? 'settled' : 'by_person';
  const result = isSettled(status) ? byWhom : 'to_person';
  harmlessly(deps, ({ reconciliations }) => reconciliations.inc({ kind, adapter, result }));
  observeEnd(deps, file);
}

function harmlessly(
  { metrics, logger }: Watched,
  count: (metrics: Watched['metrics']) => void,
): void {
  try {
    count(metrics);
  } catch (error) {
    logger.warn({ err: error }, 'not counted');
  }
}

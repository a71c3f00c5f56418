// Dispatch and resend: read the ledger, decide, send at most once.
import { Context } from '@temporalio/activity';
import { decideDispatch, mayResend } from '../domain/dispatch-decision.ts';
import type { OperationFile } from '../domain/operation.ts';
import { readFile } from '../store/operations.store.ts';
import type {
  DispatchStep,
  OperationActivities,
  OperationInput,
} from '../workflows/activities.contract.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { rowSeen, withRow } from './row-seen.ts';
import { send } from './send.ts';
import { traceActivity } from './traced.ts';

/** Three chances to be heard within the heartbeat timeout of 15 s. */
const HEARTBEAT_MS = 5_000;

/** Contract §6.1: never repeated by the engine; run again, it finds its intent and sends nothing. */
export function createDispatch(deps: ActivityDependencies): OperationActivities['dispatch'] {
  return (input, attempt, unreadable = 0) =>
    withHeartbeats(async () => {
      const file = await readFile(deps.pool, input.operation_id);
      if (!file) return withoutRow(deps, input);
      return traceActivity(deps, 'dispatch', file, async () =>
        withRow(deps, input, await dispatch(deps, input, file, { attempt, unreadable })),
      );
    });
}

async function dispatch(
  deps: ActivityDependencies,
  input: OperationInput,
  file: OperationFile,
  { attempt, unreadable }: { readonly attempt: number; readonly unreadable: number },
): Promise<DispatchStep> {
  const decision = decideDispatch(file, attempt);
  switch (decision.move) {
    case 'send':
      return send(deps, input, file, 'dispatch', isLastTry(input, unreadable));
    case 'retry':
      return { next: 'retry', attempt: decision.attempt };
    case 'reconcile':
      return { next: 'reconcile' };
    case 'wait_for_approval':
      return { next: 'await_approval', row: rowSeen(file.operation) };
    case 'done':
      return { next: 'done' };
  }
}

/** Preconditions are asked as often as a provider that refuses (contract §7). */
function isLastTry({ plan }: OperationInput, unreadable: number): boolean {
  return unreadable >= plan.refusal_delays_ms.length;
}

/** Contract §6.5: same token, same stored bytes, only while reconciliation's judgement still holds. */
export function createResend(deps: ActivityDependencies): OperationActivities['resend'] {
  return (input) =>
    withHeartbeats(async () => {
      const file = await readFile(deps.pool, input.operation_id);
      if (!file) return withoutRow(deps, input);
      return traceActivity(deps, 'resend', file, async () => {
        const step: DispatchStep = mayResend(file)
          ? await send(deps, input, file, 'resend')
          : { next: 'reconcile' };
        return withRow(deps, input, step);
      });
    });
}

/** A run of nothing: its register was restored to an older time, or somebody started it by hand. Trying again won't bring it back. */
function withoutRow({ logger }: ActivityDependencies, input: OperationInput): DispatchStep {
  logger.error({ operation_id: input.operation_id }, 'a run without its operation');
  return { next: 'done' };
}

/** Tells the engine that this worker lives. Nothing is cancelled on its word: a sent request can't be called back. */
async function withHeartbeats<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  // A local activity runs inside its workflow's task, and there is nobody to tell.
  if (context.info.isLocal) return work();
  const timer = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

// A stand-in at the port to the engine: it notes what it was asked to start.
import type { Operation } from '../../src/domain/operation.ts';
import type { WorkflowStarter } from '../../src/temporal/workflow-starter.ts';

export interface FakeStarter extends WorkflowStarter {
  /** Operation ids in the order they were started. */
  readonly started: string[];
  readonly restarted: string[];
  readonly reconciled: string[];
  /** Signed decisions in the order they were handed over. */
  readonly decided: unknown[];
  /** Operations whose run is open. */
  readonly running: Set<string>;
}

/** `onStart` may throw or wait, as an engine that is away or slow does. */
export function fakeStarter(
  onStart: (operation: Operation) => void | Promise<void> = () => {},
): FakeStarter {
  const fake = {
    started: [] as string[],
    restarted: [] as string[],
    reconciled: [] as string[],
    decided: [] as unknown[],
    running: new Set<string>(),
    start: async (operation: Operation) => {
      await onStart(operation);
      fake.started.push(operation.operationId);
    },
    restart: async (operation: Operation) => {
      await onStart(operation);
      fake.restarted.push(operation.operationId);
    },
    restartReconciliation: async (operation: Operation) => {
      await onStart(operation);
      fake.reconciled.push(operation.operationId);
    },
    wake: (operation: Operation) => Promise.resolve(onStart(operation)),
    lookNow: (operation: Operation) => Promise.resolve(onStart(operation)),
    decide: async (operation: Operation, decisions: readonly unknown[]) => {
      await onStart(operation);
      fake.decided.push(...decisions);
    },
    answers: async () => true,
    isRunning: async ({ operationId }: Operation) => fake.running.has(operationId),
  };
  return fake;
}

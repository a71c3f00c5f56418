// After a supervisor that was killed: Postgres and Temporal may still run, and our own processes may still be ending.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChildSpec } from './child-spec.ts';
import { forgetProcess, runningProcess } from './home.ts';

/** Our own processes end by themselves when the supervisor is gone; a worker may have to drain first. */
const LOOK_EVERY_MS = 100;
const HARD_WITHIN_MS = 5_000;

/** Ends what an earlier supervisor of this home left running, in the order given; notes each. */
export async function stopLeftovers(
  home: string,
  specs: readonly ChildSpec[],
  note: (sentence: string) => void,
): Promise<void> {
  for (const spec of specs) {
    const left = runningProcess(home, spec.name);
    if (left !== undefined) {
      note(`${spec.name} was left running by an earlier start (process ${left.pid}); stopping it`);
      await endLeftover(home, spec);
    }
    forgetProcess(home, spec.name);
  }
}

async function endLeftover(home: string, spec: ChildSpec): Promise<void> {
  const steps: [NodeJS.Signals, number][] = [
    [spec.stopSignal, spec.stopWithinMs],
    [spec.hurrySignal, HARD_WITHIN_MS],
    ['SIGKILL', HARD_WITHIN_MS],
  ];
  for (const [signal, withinMs] of steps) {
    if (await endsAfter(home, spec.name, signal, withinMs)) return;
  }
  throw new Error(`${spec.name}, left over from an earlier start, does not end`);
}

async function endsAfter(
  home: string,
  name: string,
  signal: NodeJS.Signals,
  withinMs: number,
): Promise<boolean> {
  const left = runningProcess(home, name);
  if (left === undefined) return true;
  try {
    process.kill(left.pid, signal);
  } catch (error) {
    // It ended between the look and the signal.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
  const deadline = performance.now() + withinMs;
  while (performance.now() < deadline && runningProcess(home, name) !== undefined) {
    await sleep(LOOK_EVERY_MS);
  }
  return runningProcess(home, name) === undefined;
}

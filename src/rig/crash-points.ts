// Named moments on an operation's path at which a process can be made to die, fail, pause or lose the database. A point is armed
// through a file that exactly one process takes away.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { askSupervisor } from './ask-supervisor.ts';
import { pausedPath, pointPath } from './places.ts';

/** In the order of the path. `commit_of_claim` is met by the database's proxy, all others by wrappers. */
export const CRASH_POINTS = [
  'before_claim',
  'commit_of_claim',
  'after_record_insert',
  'before_start',
  'after_start',
  'before_intent',
  'before_provider_call',
  'after_provider_commit',
  'after_outcome_commit',
  'before_lookup',
  'after_lookup',
  'before_event',
] as const;

export type CrashPoint = (typeof CRASH_POINTS)[number];

/** What happens to the process that reaches an armed point. */
export type Fault =
  | { readonly do: 'kill' | 'throw' | 'pause' | 'drop' }
  | { readonly do: 'database_down'; readonly for_ms: number };

export interface CrashPoints {
  /**
   * Does nothing unless the point is armed. Dies, throws or pauses before it returns; what is returned has to be awaited where the
   * fault needs time.
   */
  reach(point: CrashPoint): Promise<void> | undefined;
  /** Takes an armed point away without acting on it. */
  take(point: CrashPoint): Fault | undefined;
}

/** The points of one process of this home. */
export function watchCrashPoints(home: string): CrashPoints {
  const take = (point: CrashPoint): Fault | undefined => takeFault(pointPath(home, point));
  return {
    take,
    reach(point) {
      const fault = take(point);
      return fault && suffer(home, point, fault);
    },
  };
}

/** A rename succeeds for one process only. */
function takeFault(path: string): Fault | undefined {
  const mine = `${path}.${process.pid}`;
  try {
    renameSync(path, mine);
  } catch {
    return undefined;
  }
  const fault = JSON.parse(readFileSync(mine, 'utf8')) as Fault;
  rmSync(mine);
  return fault;
}

function suffer(home: string, point: CrashPoint, fault: Fault): Promise<void> | undefined {
  switch (fault.do) {
    case 'kill':
      process.kill(process.pid, 'SIGKILL');
      return undefined;
    case 'throw':
      throw new Error(`the rig asked for a failure at ${point}`);
    case 'pause':
      writeFileSync(pausedPath(home), String(process.pid));
      process.kill(process.pid, 'SIGSTOP');
      return undefined;
    case 'database_down':
      return askSupervisor(home, { do: 'outage', names: ['postgres'], for_ms: fault.for_ms });
    case 'drop':
      return undefined;
  }
}

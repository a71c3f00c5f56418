// The run's one Temporal server. Files stay apart by task queue and by workflow IDs that carry it, not by namespace:
// creating a namespace takes seconds to become visible.
import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';

export interface TestTemporal {
  /** host:port */
  readonly address: string;
  readonly namespace: string;
  /** Unique to the caller. */
  readonly taskQueue: string;
}

/** Only in suites whose vitest project starts Temporal (workflows, e2e, faults). */
export function testTemporal(): TestTemporal {
  return {
    address: inject('temporalAddress'),
    namespace: 'default',
    taskQueue: `test-${randomUUID()}`,
  };
}

// The parts of a process with crash points around them. They are wrapped where a process is put together, so that the parts know
// nothing of it and an ordinary start has none of it.
import type { ProviderAdapter } from '../providers/provider.ts';
import type { WorkflowStarter } from '../temporal/workflow-starter.ts';
import type { CrashPoints } from './crash-points.ts';

/** A write with a point on either side: before it leaves, and when the answer is here and not yet stored. */
export function faultyAdapter(adapter: ProviderAdapter, points: CrashPoints): ProviderAdapter {
  return {
    ...adapter,
    requestFor(kind, command, target) {
      // Made right before the first intent is committed.
      void points.reach('before_intent');
      return adapter.requestFor(kind, command, target);
    },
    async write(contact) {
      await points.reach('before_provider_call');
      const outcome = await adapter.write(contact);
      await points.reach('after_provider_commit');
      return outcome;
    },
    async lookUp(contact) {
      await points.reach('before_lookup');
      const answer = await adapter.lookUp(contact);
      await points.reach('after_lookup');
      return answer;
    },
  };
}

/** The start of a run, by the API or by the relay. */
export function faultyStarter(starter: WorkflowStarter, points: CrashPoints): WorkflowStarter {
  return {
    ...starter,
    async start(operation) {
      await points.reach('before_start');
      await starter.start(operation);
      await points.reach('after_start');
    },
  };
}

/** Any function, with a point that is reached before it is called. */
export function before<A extends unknown[], R>(
  reach: () => unknown,
  work: (...args: A) => R,
): (...args: A) => R {
  return (...args) => {
    void reach();
    return work(...args);
  };
}

/** An async function, with a point that is reached once it is done. */
export function after<A extends unknown[], R>(
  reach: () => unknown,
  work: (...args: A) => Promise<R>,
): (...args: A) => Promise<R> {
  return async (...args) => {
    const result = await work(...args);
    await reach();
    return result;
  };
}

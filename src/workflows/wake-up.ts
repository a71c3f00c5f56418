// A wait that ends early when something was said to the workflow: the row changed, or a cancellation was asked for.
import { CancellationScope, condition, setHandler } from '@temporalio/workflow';
import { rowChanged } from './messages.ts';

export interface WakeUp {
  /** Ends after `ms`, or at once when something was said since the last wait. */
  sleep(ms: number, summary: string): Promise<void>;
  /** Ends the wait, or the next one where none is under way. */
  wake(): void;
  /** True once after a cancellation was asked for, for example in Temporal Web. */
  cancelAsked(): boolean;
}

/** Registers the handlers; call it first, so that nothing said early is missed. */
export function listen(): WakeUp {
  let said = false;
  let cancel = false;
  setHandler(rowChanged, () => {
    said = true;
  });
  // The promise only ever rejects: that is how a scope tells of its cancellation.
  CancellationScope.current().cancelRequested.catch(() => {
    said = true;
    cancel = true;
  });
  return {
    async sleep(ms, summary) {
      await condition(() => said, Math.max(ms, 1), { summary });
      said = false;
    },
    wake() {
      said = true;
    },
    cancelAsked() {
      const asked = cancel;
      cancel = false;
      return asked;
    },
  };
}

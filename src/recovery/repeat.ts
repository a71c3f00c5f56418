// Runs a task again and again until told to stop.
import { setTimeout as pause } from 'node:timers/promises';

export interface Repetition {
  /** Ends after the round that runs now. */
  stop(): Promise<void>;
}

/**
 * Runs `round` every `intervalMs`, and at once again while it reports work done, so that a backlog is drained without waiting.
 * A round that throws is reported and followed by the next one.
 */
export function repeat(
  intervalMs: number,
  round: () => Promise<number>,
  onError: (error: unknown) => void,
): Repetition {
  const stopping = new AbortController();
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const done = await round().catch((error: unknown) => {
        onError(error);
        return 0;
      });
      if (done > 0) continue;
      await pause(intervalMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const ended = loop();
  return {
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
}

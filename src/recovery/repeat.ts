// Runs a task again and again until told to stop.
import { setTimeout as pause } from 'node:timers/promises';

export interface Repetition {
  /** Ends after the round that runs now; that one hears of it by its signal. */
  stop(): Promise<void>;
}

export interface RepeatedTask {
  /** Pause after a round that found nothing to do, or failed. */
  readonly everyMs: number;
  /** Pause after one that did something, so that a backlog is worked off at this pace; 0 at once. */
  readonly againMs: number;
  /** Answers how much was done. */
  readonly round: (stopping: AbortSignal) => Promise<number>;
  /** A round that throws is reported and followed by the next one. */
  readonly onError: (error: unknown) => void;
}

/** Runs the first round now. */
export function repeat({ everyMs, againMs, round, onError }: RepeatedTask): Repetition {
  const stopping = new AbortController();
  const { signal } = stopping;
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      const done = await round(signal).catch((error: unknown) => {
        onError(error);
        return 0;
      });
      const ms = done > 0 ? Math.min(againMs, everyMs) : everyMs;
      if (ms > 0) await pause(ms, undefined, { signal }).catch(() => undefined);
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

import { describe, expect, it } from 'vitest';
import { repeat } from '../../src/recovery/repeat.ts';

/** Longer than any test: a pause that is never waited for. */
const NEVER_MS = 3_600_000;

/** A promise and the function that resolves it. */
function deferred<T>() {
  const end: { resolve?: (value: T) => void } = {};
  const promise = new Promise<T>((done) => (end.resolve = done));
  return { promise, resolve: (value: T) => end.resolve?.(value) };
}

describe('a repeated task', () => {
  it('stops after the round under way, and not before it', async () => {
    const round = deferred<number>();
    let ended = false;
    const task = repeat({
      everyMs: NEVER_MS,
      againMs: 0,
      round: () => round.promise,
      onError: () => {},
    });
    const stopped = task.stop().then(() => (ended = true));
    await new Promise(setImmediate);
    expect(ended).toBe(false);
    round.resolve(1);
    await stopped;
    expect(ended).toBe(true);
  });

  it('tells the round under way that it should come to an end', async () => {
    const rounds: AbortSignal[] = [];
    const task = repeat({
      everyMs: NEVER_MS,
      againMs: 0,
      round: (stopping) =>
        new Promise((resolve) => {
          rounds.push(stopping);
          stopping.addEventListener('abort', () => resolve(1));
        }),
      onError: () => {},
    });
    await task.stop();
    expect(rounds).toHaveLength(1);
  });

  it('goes on at once while there is work, and sleeps when there is none', async () => {
    const work = [3, 2, 1, 0];
    const idle = deferred<void>();
    const task = repeat({
      everyMs: NEVER_MS,
      againMs: 0,
      round: async () => {
        const done = work.shift() ?? 0;
        if (work.length === 0) idle.resolve();
        return done;
      },
      onError: () => {},
    });
    await idle.promise;
    await task.stop();
    expect(work).toEqual([]);
  });

  it('survives a round that throws, and reports it', async () => {
    const errors: unknown[] = [];
    const second = deferred<void>();
    let rounds = 0;
    const task = repeat({
      everyMs: 1,
      againMs: 0,
      round: async () => {
        rounds += 1;
        if (rounds === 1) throw new Error('once');
        second.resolve();
        return 0;
      },
      onError: (error) => errors.push(error),
    });
    await second.promise;
    await task.stop();
    expect(errors).toEqual([new Error('once')]);
  });
});

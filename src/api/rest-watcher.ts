// Waits for operations to come to rest, for callers that asked to be held. One statement per round serves all of them, whatever
// process settles the operation, and none of them needs the engine.
import { setTimeout as pause } from 'node:timers/promises';
import { isRestingPlace, type OperationState } from '../domain/operation-state.ts';

/** Short against a provider call, long against the statement. */
const ROUND_MS = 25;

/**
 * Callers held at once by one process. One statement asks for all of them, 40 times a second: a thousand ids are still a few
 * milliseconds. Whoever comes beyond it is answered at once and polls.
 */
const MOST_HELD = 1_000;

export type ReadStates = (
  operationIds: readonly string[],
) => Promise<ReadonlyMap<string, OperationState>>;

interface Waiter {
  readonly operationId: string;
  readonly done: () => void;
}

export class RestWatcher {
  readonly #readStates: ReadStates;
  readonly #waiters = new Set<Waiter>();
  readonly #mostHeld: number;
  #running = false;
  #closed = false;

  constructor(readStates: ReadStates, mostHeld = MOST_HELD) {
    this.#readStates = readStates;
    this.#mostHeld = mostHeld;
  }

  /**
   * Resolves when the operation rests, when `waitMs` have passed, or when `signal` says that nobody listens any more; at once where
   * too many wait already, or after `close`.
   */
  wait(operationId: string, waitMs: number, signal: AbortSignal): Promise<void> {
    if (this.#closed || signal.aborted || this.#waiters.size >= this.#mostHeld) {
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        this.#waiters.delete(waiter);
        resolve();
      };
      const timer = setTimeout(end, waitMs);
      const waiter: Waiter = { operationId, done: end };
      signal.addEventListener('abort', end, { once: true });
      this.#waiters.add(waiter);
      if (!this.#running) void this.#run();
    });
  }

  /** Ends every wait: a process that stops answers with what is known now. */
  close(): void {
    this.#closed = true;
    for (const waiter of this.#waiters) waiter.done();
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiters.size > 0) {
      await this.#round();
      await pause(ROUND_MS);
    }
    this.#running = false;
  }

  async #round(): Promise<void> {
    const ids = [...new Set([...this.#waiters].map(({ operationId }) => operationId))];
    // An unreadable round is skipped: waiters have their own end, and what they answer then is read afresh.
    const states = await this.#readStates(ids).catch(() => new Map<string, OperationState>());
    for (const waiter of this.#waiters) {
      const state = states.get(waiter.operationId);
      if (state !== undefined && isRestingPlace(state)) waiter.done();
    }
  }
}

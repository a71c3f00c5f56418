// Repeats in the audit: a retry must be told apart from a second action (contract §10). The first repeat of an operation by a principal
// and agent run is one event, later ones at most one a minute with a count; written beside the request, never before its answer.
import type { Operation } from '../domain/operation.ts';
import type { Logger } from '../observability/logger.ts';
import type { Principal } from '../store/principals.store.ts';
import { recordReplays, type Replays } from '../store/replays.store.ts';
import type { Pool } from '../store/pool.ts';

const QUIET_MS = 60_000;
const FLUSH_EVERY_MS = 1_000;

/** Callers that are remembered at once; beyond it the quiet ones are forgotten, and their next repeat counts as a first. */
const MOST_REMEMBERED = 10_000;

export interface Repeat {
  readonly operation: Operation;
  readonly principal: Principal;
  readonly agentRun: string | null;
  readonly key: string;
}

interface Remembered {
  readonly repeat: Repeat;
  count: number;
  /** Milliseconds of `performance.now()`; -Infinity before the first event. */
  writtenAt: number;
}

export class ReplayAudit {
  readonly #pool: Pool;
  readonly #logger: Logger;
  readonly #remembered = new Map<string, Remembered>();
  readonly #timer: NodeJS.Timeout;

  constructor(pool: Pool, logger: Logger) {
    this.#pool = pool;
    this.#logger = logger;
    this.#timer = setInterval(() => void this.#flush(QUIET_MS), FLUSH_EVERY_MS);
    this.#timer.unref();
  }

  /** Notes one repeat; costs no I/O. */
  note(repeat: Repeat): void {
    const { operation, principal, agentRun } = repeat;
    const id = JSON.stringify([operation.operationId, principal.principalId, agentRun]);
    const known = this.#remembered.get(id);
    if (known) known.count += 1;
    else this.#remembered.set(id, { repeat, count: 1, writtenAt: Number.NEGATIVE_INFINITY });
  }

  /** Writes what is still counted, then ends. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flush(0);
  }

  async #flush(quietMs: number): Promise<void> {
    const now = performance.now();
    const due = [...this.#remembered.values()].filter(
      ({ count, writtenAt }) => count > 0 && now - writtenAt >= quietMs,
    );
    const batch = due.map(({ repeat, count }): Replays => ({ ...repeat, count }));
    for (const one of due) Object.assign(one, { count: 0, writtenAt: now });
    this.#forgetQuiet(now);
    if (batch.length === 0) return;
    await recordReplays(this.#pool, batch).catch((error: unknown) => {
      this.#logger.warn({ err: error, events: batch.length }, 'replays not audited');
    });
  }

  #forgetQuiet(now: number): void {
    if (this.#remembered.size <= MOST_REMEMBERED) return;
    for (const [id, { count, writtenAt }] of this.#remembered) {
      if (count === 0 && now - writtenAt >= QUIET_MS) this.#remembered.delete(id);
    }
  }
}

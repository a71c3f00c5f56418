// One process that is kept running: started again when it dies, stopped once when asked.
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChildSpec } from './child-spec.ts';
import { forgetProcess, logPath, noteProcess } from './home.ts';
import { ended, logTail, spawnLogged } from './spawn-logged.ts';

/** The first restart is at once; then the pauses grow, so that a child which can't run doesn't burn the machine. */
const RESTART_DELAYS_MS = [100, 250, 500, 1_000, 2_000, 5_000];
/** A child that ran this long died of something new: the pauses start over. */
const STEADY_AFTER_MS = 15_000;
/** At the first start nobody waits for the sixth identical failure: the log is shown instead. */
const GIVE_UP_AFTER_DEATHS = 5;
const LOOK_EVERY_MS = 100;
/** After the hurry signal; Postgres needs a moment even then. */
const HURRY_WITHIN_MS = 5_000;

/** Pause before the restart after the given number of deaths in a row (0 = the first). */
export function restartDelayMs(deathsBefore: number): number {
  return RESTART_DELAYS_MS[Math.min(deathsBefore, RESTART_DELAYS_MS.length - 1)] ?? 0;
}

/** Keeps one process running until `stop`. */
export class SupervisedChild {
  readonly name: string;
  readonly #spec: ChildSpec;
  readonly #home: string;
  readonly #note: (sentence: string) => void;
  #process: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  #restart: NodeJS.Timeout | undefined;
  #startedAt = 0;
  #deathsInARow = 0;
  #stopping = false;

  /** `note` gets a sentence for each death and each return. */
  constructor(spec: ChildSpec, home: string, note: (sentence: string) => void) {
    this.name = spec.name;
    this.#spec = spec;
    this.#home = home;
    this.#note = note;
  }

  start(): void {
    if (this.#stopping) return;
    const child = spawnLogged(this.#spec, this.#home);
    this.#process = child;
    this.#startedAt = performance.now();
    if (child.pid !== undefined) noteProcess(this.#home, this.name, child.pid);
    this.#ended = ended(child).then((reason) => this.#afterEnd(reason));
  }

  #afterEnd(reason: string): void {
    this.#process = undefined;
    forgetProcess(this.#home, this.name);
    if (this.#stopping) return;
    if (performance.now() - this.#startedAt > STEADY_AFTER_MS) this.#deathsInARow = 0;
    const pause = restartDelayMs(this.#deathsInARow);
    this.#deathsInARow += 1;
    this.#note(
      `${this.name} ended (${reason}); starting it again. Log: ${logPath(this.#home, this.name)}`,
    );
    this.#restart = setTimeout(() => this.#startAgain(), pause);
  }

  #startAgain(): void {
    this.start();
    const { pid } = this.#process ?? {};
    void this.#readyWhileRunning(pid).then((ready) => {
      if (ready) this.#note(`${this.name} is back`);
    });
  }

  async #readyWhileRunning(pid: number | undefined): Promise<boolean> {
    const isCurrent = (): boolean => this.#process?.pid === pid && !this.#stopping;
    if (pid === undefined) return false;
    while (isCurrent()) {
      if (await this.#spec.isReady(pid)) return true;
      await sleep(LOOK_EVERY_MS);
    }
    return false;
  }

  /**
   * Resolves when the process answers as ready; throws with the end of its log after `withinMs`, or sooner where it died too often to
   * hope for it. One that is killed on purpose has died often and will be back: `whateverItTakes` waits on.
   */
  async ready(withinMs: number, { whateverItTakes = false } = {}): Promise<void> {
    const deadline = performance.now() + withinMs;
    const hopeless = (): boolean => !whateverItTakes && this.#deathsInARow >= GIVE_UP_AFTER_DEATHS;
    while (performance.now() < deadline && !this.#stopping && !hopeless()) {
      const pid = this.#process?.pid;
      if (pid !== undefined && (await this.#spec.isReady(pid)) && this.#process?.pid === pid)
        return;
      await sleep(LOOK_EVERY_MS);
    }
    if (this.#stopping) throw new Error(`${this.name} was stopped before it was ready`);
    const what = hopeless() ? 'ended again and again' : `was not ready after ${withinMs / 1_000} s`;
    throw new Error(
      `${this.name} ${what}. The end of ${logPath(this.#home, this.name)}:\n${logTail(this.#home, this.name)}`,
    );
  }

  /** Asks the process to end and waits for it, with a bound; it is not started again. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#restart);
    const { stopSignal, stopWithinMs } = this.#spec;
    if (await this.#endsAfter(stopSignal, stopWithinMs)) return;
    this.#note(`${this.name} has not ended after ${stopWithinMs / 1_000} s and is stopped hard`);
    if (await this.#endsAfter(this.#spec.hurrySignal, HURRY_WITHIN_MS)) return;
    await this.#endsAfter('SIGKILL', HURRY_WITHIN_MS);
  }

  /** Starts a process that was stopped; from now on it is kept running again. */
  startAgain(): void {
    if (!this.#stopping) return;
    this.#stopping = false;
    this.#deathsInARow = 0;
    this.start();
  }

  /** Ends the process as a crash would; it is started again. */
  kill(): void {
    this.#process?.kill('SIGKILL');
  }

  /** Ends the process without waiting for its work, while a `stop` is under way or instead of one. */
  hurry(): void {
    this.#stopping = true;
    clearTimeout(this.#restart);
    this.#process?.kill(this.#spec.hurrySignal);
  }

  async #endsAfter(signal: NodeJS.Signals, withinMs: number): Promise<boolean> {
    this.#process?.kill(signal);
    await Promise.race([this.#ended, sleep(withinMs, undefined, { ref: false })]);
    return this.#process === undefined;
  }
}

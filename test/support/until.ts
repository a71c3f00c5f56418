// Waiting on conditions. A test that waits for a time either waits too long or fails on a slow machine.
import { setTimeout as pause } from 'node:timers/promises';

const LOOK_EVERY_MS = 50;
/** Far beyond what anything here takes on a busy machine. */
const PATIENCE_MS = 60_000;

/** Asks until the answer is neither undefined nor false and returns it; throws naming `what` when patience ends. */
export async function until<T>(
  what: string,
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const end = performance.now() + patienceMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > end) throw new Error(`waited ${patienceMs} ms in vain until ${what}`);
    await pause(LOOK_EVERY_MS);
  }
}

import { describe, expect, it } from 'vitest';
import { RestWatcher } from '../../src/api/rest-watcher.ts';
import type { OperationState } from '../../src/domain/operation-state.ts';

const LONG_MS = 60_000;
const listening = () => new AbortController().signal;

function watcherOf(mostHeld?: number) {
  const states = new Map<string, OperationState>();
  let reads = 0;
  const watcher = new RestWatcher(async (ids) => {
    reads += 1;
    return new Map(ids.map((id) => [id, states.get(id) ?? 'PENDING']));
  }, mostHeld);
  return { watcher, states, reads: () => reads };
}

/** True where the promise has settled before the next turn of the event loop. */
async function isOver(promise: Promise<unknown>): Promise<boolean> {
  return Promise.race([
    promise.then(() => true),
    new Promise<false>((resolve) => setImmediate(() => resolve(false))),
  ]);
}

describe('the watcher of held callers', () => {
  it('lets a caller go when its operation rests', async () => {
    const { watcher, states } = watcherOf();
    const held = watcher.wait('op_1', LONG_MS, listening());
    expect(await isOver(held)).toBe(false);
    states.set('op_1', 'SUCCEEDED');
    await held;
  });

  it('does not hold more than its bound: the next one goes at once', async () => {
    const { watcher } = watcherOf(2);
    const gone = new AbortController();
    const held = ['op_1', 'op_2'].map((id) => watcher.wait(id, LONG_MS, gone.signal));
    expect(await isOver(watcher.wait('op_3', LONG_MS, listening()))).toBe(true);
    gone.abort();
    await Promise.all(held);
    const next = watcher.wait('op_4', LONG_MS, listening());
    expect(await isOver(next)).toBe(false);
    watcher.close();
    await next;
  });

  it('lets everybody go when it closes, and holds nobody afterwards', async () => {
    const { watcher } = watcherOf();
    const held = ['op_1', 'op_2'].map((id) => watcher.wait(id, LONG_MS, listening()));
    watcher.close();
    await Promise.all(held);
    expect(await isOver(watcher.wait('op_3', LONG_MS, listening()))).toBe(true);
  });

  it('does not hold a caller that has already gone', async () => {
    const { watcher } = watcherOf();
    expect(await isOver(watcher.wait('op_1', LONG_MS, AbortSignal.abort()))).toBe(true);
  });
});

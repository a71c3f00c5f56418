import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { createStartSoon } from '../../src/api/start-soon.ts';
import type { Pool } from '../../src/store/pool.ts';
import { operationOf } from '../support/operation-file.ts';
import { fakeStarter } from '../support/fake-starter.ts';

const pool = { query: async () => ({ rows: [] }) } as unknown as Pool;
const silent = pino({ level: 'silent' });

/** Starts through an engine whose answers the test decides. */
function engine(answer: () => Promise<void>) {
  const start = vi.fn(answer);
  const startSoon = createStartSoon(pool, { ...fakeStarter(), start }, silent);
  const begin = async () => {
    startSoon.begin(operationOf());
    await startSoon.drain();
  };
  return { begin, tried: () => start.mock.calls.length };
}

describe('an engine that is told at once', () => {
  it('is left in peace for a moment after it did not answer, and told again afterwards', async () => {
    const clock = vi.spyOn(performance, 'now').mockReturnValue(1_000);
    const { begin, tried } = engine(() => Promise.reject(new Error('away')));
    await begin();
    await begin();
    expect(tried()).toBe(1);
    clock.mockReturnValue(1_251);
    await begin();
    expect(tried()).toBe(2);
    clock.mockRestore();
  });

  it('is told of the next operation where one could never be told', async () => {
    const { begin, tried } = engine(() => Promise.reject(new TypeError('our own mistake')));
    await begin();
    await begin();
    expect(tried()).toBe(2);
  });
});

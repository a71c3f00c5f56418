import { describe, expect, it } from 'vitest';
import { inBatches, type BatchLimits } from '../../src/store/in-batches.ts';
import type { Pool } from '../../src/store/pool.ts';

type Load = (items: readonly number[]) => Promise<readonly number[]>;

/** Of one pool, which these loaders have no need of. */
function inBatchesOf(load: Load, limits: BatchLimits): (item: number) => Promise<number> {
  const pool = {} as Pool;
  const one = inBatches((_pool, items: readonly number[]) => load(items), limits);
  return (item) => one(pool, item);
}

/** A loader that answers when it is told to, and remembers its batches. */
function held() {
  const batches: { items: readonly number[]; answer: () => void; fail: (error: Error) => void }[] =
    [];
  const load = (items: readonly number[]): Promise<readonly number[]> =>
    new Promise((resolve, reject) => {
      batches.push({ items, answer: () => resolve(items.map((n) => n * 10)), fail: reject });
    });
  return { batches, load, sizes: () => batches.map(({ items }) => items.length) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('calls in batches', () => {
  it('go at once while few are under way, and together afterwards, each with its own answer', async () => {
    const { batches, load, sizes } = held();
    const one = inBatchesOf(load, { most: 3, atOnce: 2 });
    const results = Promise.all([1, 2, 3, 4, 5, 6].map(one));
    expect(sizes()).toEqual([1, 1]);
    batches[0]?.answer();
    await turn();
    expect(batches[2]?.items).toEqual([3, 4, 5]);
    batches[1]?.answer();
    await turn();
    expect(batches[3]?.items).toEqual([6]);
    batches[2]?.answer();
    batches[3]?.answer();
    expect(await results).toEqual([10, 20, 30, 40, 50, 60]);
  });

  it('that fail together are tried alone, so that one bad item fails nobody else', async () => {
    const load = async (items: readonly number[]): Promise<readonly number[]> => {
      await turn();
      if (items.includes(3)) throw new Error('3 is bad');
      return items.map((n) => n * 10);
    };
    const one = inBatchesOf(load, { most: 10, atOnce: 1 });
    const results = await Promise.allSettled([1, 2, 3, 4].map(one));
    expect(results.map((result) => (result.status === 'fulfilled' ? result.value : 'bad'))).toEqual(
      [10, 20, 'bad', 40],
    );
  });

  it('all hear at once that the database is away', async () => {
    const { batches, load, sizes } = held();
    const one = inBatchesOf(load, { most: 10, atOnce: 1 });
    const results = Promise.allSettled([1, 2, 3].map(one));
    batches[0]?.answer();
    await turn();
    batches[1]?.fail(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }));
    expect((await results).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
    ]);
    expect(sizes()).toEqual([1, 2]);
  });

  it('go on after a failure', async () => {
    const { batches, load } = held();
    const one = inBatchesOf(load, { most: 10, atOnce: 1 });
    const failing = one(1);
    batches[0]?.fail(new Error('broken'));
    await expect(failing).rejects.toThrow('broken');
    const next = one(2);
    batches[1]?.answer();
    expect(await next).toBe(20);
  });
});

import { describe, expect, it } from 'vitest';
import { inBatches } from '../../src/store/in-batches.ts';
import type { Pool } from '../../src/store/pool.ts';

type Load = (items: readonly number[]) => Promise<readonly number[]>;

/** Of one pool, which these loaders have no need of. */
function inBatchesOf(load: Load): (item: number) => Promise<number> {
  const pool = {} as Pool;
  const one = inBatches((_pool, items: readonly number[]) => load(items));
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
  return { batches, load, items: () => batches.map((one) => one.items) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('calls in batches', () => {
  it('of one moment go together, and what comes meanwhile together afterwards, each with its own answer', async () => {
    const { batches, load, items } = held();
    const one = inBatchesOf(load);
    const first = Promise.all([1, 2, 3].map(one));
    await turn();
    expect(items()).toEqual([[1, 2, 3]]);
    const second = Promise.all([4, 5].map(one));
    await turn();
    expect(items()).toEqual([[1, 2, 3]]);
    batches[0]?.answer();
    expect(await first).toEqual([10, 20, 30]);
    expect(items()).toEqual([
      [1, 2, 3],
      [4, 5],
    ]);
    batches[1]?.answer();
    expect(await second).toEqual([40, 50]);
  });

  it('are at most 24 together', async () => {
    const { batches, load } = held();
    void Promise.all(Array.from({ length: 60 }, (_, n) => n).map(inBatchesOf(load)));
    await turn();
    for (const n of [0, 1]) {
      batches[n]?.answer();
      await turn();
    }
    expect(batches.map((one) => one.items.length)).toEqual([24, 24, 12]);
  });

  it('go on beside one that is stuck, and that one still answers its own', async () => {
    const { batches, load, items } = held();
    const one = inBatchesOf(load);
    const stuck = one(1);
    await turn();
    const next = one(2);
    await expect.poll(items).toEqual([[1], [2]]);
    batches[1]?.answer();
    expect(await next).toBe(20);
    batches[0]?.answer();
    expect(await stuck).toBe(10);
  });

  it('that fail together are tried alone, so that one bad item fails nobody else', async () => {
    const load = async (items: readonly number[]): Promise<readonly number[]> => {
      await turn();
      if (items.includes(3)) throw new Error('3 is bad');
      return items.map((n) => n * 10);
    };
    const results = await Promise.allSettled([1, 2, 3, 4].map(inBatchesOf(load)));
    expect(results.map((result) => (result.status === 'fulfilled' ? result.value : 'bad'))).toEqual(
      [10, 20, 'bad', 40],
    );
  });

  it('all hear at once that the database is away', async () => {
    const { batches, load, items } = held();
    const results = Promise.allSettled([1, 2].map(inBatchesOf(load)));
    await turn();
    batches[0]?.fail(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }));
    expect((await results).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(items()).toEqual([[1, 2]]);
  });

  it('go on after a failure', async () => {
    const { batches, load } = held();
    const one = inBatchesOf(load);
    const failing = one(1);
    await turn();
    batches[0]?.fail(new Error('broken'));
    await expect(failing).rejects.toThrow('broken');
    const next = one(2);
    await turn();
    batches[1]?.answer();
    expect(await next).toBe(20);
  });
});

// Concurrent calls share round trips. A statement for twenty claims costs Postgres and the driver far less than twenty statements, and
// most of what a request costs is round trips. Nobody waits for a batch to fill: a call goes at once while few are under way, and what
// comes meanwhile goes together as soon as one of them is back.
import type { Pool } from './pool.ts';
import { isUnavailable } from './sqlstate.ts';

export interface BatchLimits {
  /** Items of one batch. */
  readonly most: number;
  /** Batches under way; a call that finds fewer doesn't wait. */
  readonly atOnce: number;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result | Promise<Result>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A function for one item from one for many, which answers in the order of its items. Where a batch fails its items are tried alone, so
 * that one which can't be carried out fails nobody else; where the database is away all of them hear so at once. Each pool has batches
 * of its own.
 */
export function inBatches<Item, Result>(
  load: (pool: Pool, items: readonly Item[]) => Promise<readonly Result[]>,
  limits: BatchLimits,
): (pool: Pool, item: Item) => Promise<Result> {
  const batchers = new WeakMap<Pool, (item: Item) => Promise<Result>>();
  return (pool, item) => {
    const known = batchers.get(pool);
    if (known) return known(item);
    const fresh = batcher((items: readonly Item[]) => load(pool, items), limits);
    batchers.set(pool, fresh);
    return fresh(item);
  };
}

function batcher<Item, Result>(
  load: (items: readonly Item[]) => Promise<readonly Result[]>,
  { most, atOnce }: BatchLimits,
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let underWay = 0;

  const alone = async (item: Item): Promise<Result> => {
    const [result] = await load([item]);
    return result as Result;
  };

  const settle = async (batch: readonly Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await load(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, n) => resolve(results[n] as Result));
    } catch (error) {
      const forAll = batch.length === 1 || isUnavailable(error);
      for (const { item, resolve, reject } of batch) {
        if (forAll) reject(error);
        else resolve(alone(item));
      }
    }
  };

  const next = (): void => {
    while (underWay < atOnce && waiting.length > 0) {
      underWay += 1;
      void settle(waiting.splice(0, most)).then(() => {
        underWay -= 1;
        next();
      });
    }
  };

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      next();
    });
}

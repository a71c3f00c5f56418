// Concurrent calls share round trips. A statement for twenty claims costs Postgres and the driver far less than twenty statements, and
// most of what a request costs is round trips. Nobody waits for a batch to fill: the calls of one turn of the event loop go together where none
// is under way, and what comes meanwhile goes as soon as that one is back, or takes too long.
import type { Pool } from './pool.ts';
import { isUnavailable } from './sqlstate.ts';

/** Items of one batch: few enough that a busy process works on some while others are at the database, instead of all in step. */
const MOST = 24;

/** Above what a statement takes on a busy machine: one that waits for a lock, or is stuck, no longer holds up those behind it. */
const PATIENCE_MS = 25;

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
): (pool: Pool, item: Item) => Promise<Result> {
  const batchers = new WeakMap<Pool, (item: Item) => Promise<Result>>();
  return (pool, item) => {
    const known = batchers.get(pool);
    if (known) return known(item);
    const fresh = batcher((items: readonly Item[]) => load(pool, items));
    batchers.set(pool, fresh);
    return fresh(item);
  };
}

function batcher<Item, Result>(
  load: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let isBusy = false;

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
    if (isBusy || waiting.length === 0) return;
    isBusy = true;
    let isSlow = false;
    const goOn = (): void => {
      isBusy = false;
      next();
    };
    const impatience = setTimeout(() => {
      isSlow = true;
      goOn();
    }, PATIENCE_MS);
    void settle(waiting.splice(0, MOST)).then(() => {
      clearTimeout(impatience);
      if (!isSlow) goOn();
    });
  };

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      // Not at once: a batch that comes back lets its callers go on in one turn, and the first of them would go alone.
      if (waiting.length === 1) setImmediate(next);
    });
}

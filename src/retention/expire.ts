// Retention: what is personal goes a set time after an operation settled. Unsettled ones never age (contract §4, "Stored bytes").
import type { PersonalMembersOf } from '../domain/personal-data.ts';
import type { Logger } from '../observability/logger.ts';
import { dueToExpire, expireIfDue } from '../store/personal-data.store.ts';
import type { Pool } from '../store/pool.ts';

/** One round's share, in transactions of their own: nothing else ever waits for more than one of them. */
const BATCH = 100;

/** Pause between two rounds of a backlog: it is no hurry, and live traffic goes first. */
export const EXPIRE_AGAIN_MS = 250;

export interface ExpireDependencies {
  readonly pool: Pool;
  readonly retentionMs: number;
  readonly personalOf: PersonalMembersOf;
  readonly logger: Logger;
}

/** Takes what is personal from operations that are due; answers how many. One that fails stays due and holds nobody up. */
export async function expireOnce(
  { pool, retentionMs, personalOf, logger }: ExpireDependencies,
  stopping?: AbortSignal,
): Promise<number> {
  let done = 0;
  for (const id of await dueToExpire(pool, retentionMs, BATCH)) {
    if (stopping?.aborted) break;
    try {
      if (await expireIfDue(pool, id, retentionMs, personalOf)) done += 1;
    } catch (error) {
      logger.warn({ operation_id: id, err: error }, 'not expired');
    }
  }
  return done;
}

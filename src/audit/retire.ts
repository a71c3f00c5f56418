// Retention of the audit: the oldest batches go, and a signed checkpoint says how far and what the rest builds on. Whole batches only, so
// that every head whose entries are there can still be checked.
import { checkpointText, type AuditHead } from '../domain/audit-chain.ts';
import type { SigningKey } from '../signing/keys.ts';
import { removableHead, removeThrough } from '../store/audit-retention.store.ts';
import { databaseTime } from '../store/audit-sealing.store.ts';
import type { Queryable } from '../store/pool.ts';
import type { ChainEnd } from './check-chain.ts';

/**
 * Removes the batches that were sealed longer ago than `retentionMs`, some of them a round. The newest batch stays, and whatever is not
 * older than the oldest entry of an operation that is still open.
 */
export async function retireOldest(
  db: Queryable,
  key: SigningKey,
  accountId: string,
  { sequence }: ChainEnd,
  retentionMs: number,
): Promise<void> {
  const head = await removableHead(db, accountId, sequence, retentionMs);
  if (head) await removeThrough(db, checkpointAt(key, head, await databaseTime(db)));
}

function checkpointAt(key: SigningKey, head: AuditHead, now: string) {
  const checkpoint = {
    v: 1,
    account_id: head.account_id,
    through_sequence: head.sequence,
    hash: head.hash,
    removed_at: now,
    kid: key.kid,
  } as const;
  return { ...checkpoint, signature: key.sign(checkpointText(checkpoint)) };
}

// The statements of the audit's retention, in the sealer's transaction.
import type { AuditCheckpoint, AuditHead } from '../domain/audit-chain.ts';
import type { Queryable } from './pool.ts';

/** Heads that are looked at in one round: enough to keep up with one head a second and round. */
const HEADS_AT_ONCE = 20;

/** The newest of the oldest heads whose entries may go, all of them; undefined where none may. */
export async function removableHead(
  db: Queryable,
  accountId: string,
  lastSequence: number,
  retentionMs: number,
): Promise<AuditHead | undefined> {
  const { rows } = await db.query<{ head: AuditHead }>(
    `with oldest as (
       select sequence, head from audit_heads
       where account_id = $1 and sequence < $2
         and (head ->> 'sealed_at')::timestamptz < holdfast_now() - $3 * interval '1 millisecond'
       order by sequence limit ${HEADS_AT_ONCE})
     select head from oldest where not exists (
       select from audit_events e join operations o using (operation_id)
       where e.account_id = $1 and e.sequence <= oldest.sequence and o.response_body is null)
     order by sequence desc limit 1`,
    [accountId, lastSequence, retentionMs],
  );
  return rows[0]?.head;
}

/** Removes what the checkpoint stands for, and puts it in the place of an older one. */
export async function removeThrough(db: Queryable, checkpoint: AuditCheckpoint): Promise<void> {
  const { account_id: accountId, through_sequence: through } = checkpoint;
  await db.query(
    `insert into audit_checkpoints (account_id, through_sequence, checkpoint) values ($1, $2, $3)
     on conflict (account_id) do update
     set through_sequence = excluded.through_sequence, checkpoint = excluded.checkpoint`,
    [accountId, through, JSON.stringify(checkpoint)],
  );
  for (const table of ['audit_events', 'audit_heads']) {
    await db.query(`delete from ${table} where account_id = $1 and sequence <= $2`, [
      accountId,
      through,
    ]);
  }
}

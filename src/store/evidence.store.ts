// What providers said, kept for the person who may have to decide and for the rules that need two agreeing lookups.
import type { AnsweredLook, KnownEffect } from '../domain/resolution.ts';
import type { Queryable } from './pool.ts';
import { run, type Prepared } from './prepared.ts';

export interface EvidenceRecord {
  readonly operationId: string;
  readonly type: 'write_answer' | 'lookup' | 'event' | 'withdrawn_response' | 'person';
  readonly attempt?: number;
  /** The outcome of a write, the answer of a lookup, what a person said, or the state whose bytes were withdrawn. */
  readonly verdict: string;
  readonly detail: object;
  readonly at: string;
}

/** Appends a record, whose members are the first six parameters: for statements that change something by it. */
export const EVIDENCE_INSERT = `kept as (
       insert into evidence (operation_id, type, attempt, verdict, detail, at)
       values ($1, $2, $3, $4, $5, $6)),
     new_words as (
       update operations set words_at = $6
       where operation_id = $1 and greatest(expired_at, erased_at) >= words_at)`;

/** A record as `EVIDENCE_INSERT` takes it. */
export const evidenceValues = (record: EvidenceRecord): unknown[] => [
  record.operationId,
  record.type,
  record.attempt,
  record.verdict,
  JSON.stringify(record.detail),
  record.at,
];

const RECORD_EVIDENCE: Prepared = {
  name: 'record_evidence',
  text: `with ${EVIDENCE_INSERT} select`,
};

/** Appends it. Where the words of the operation were taken already these are new ones, and age from now on. */
export async function recordEvidence(db: Queryable, record: EvidenceRecord): Promise<void> {
  await run(db, RECORD_EVIDENCE, evidenceValues(record));
}

/** Times (RFC 3339) of lookups since the last finding that found nothing, newest last: a finding in between ends their agreement. */
export async function absentLooks(db: Queryable, operationId: string): Promise<string[]> {
  const { rows } = await db.query<{ at: string }>(
    `select at from evidence
     where operation_id = $1 and type = 'lookup' and verdict = 'absent' and evidence_id > coalesce(
       (select max(evidence_id) from evidence
        where operation_id = $1 and type = 'lookup' and verdict = 'found'), 0)
     order by evidence_id`,
    [operationId],
  );
  return rows.map((row) => row.at);
}

/** Why answers to writes could not be taken as definite, oldest first. */
export async function unknownReasons(db: Queryable, operationId: string): Promise<string[]> {
  const { rows } = await db.query<{ reason: string }>(
    `select detail ->> 'reason' as reason from evidence
     where operation_id = $1 and type = 'write_answer' and verdict = 'unknown'
     order by evidence_id`,
    [operationId],
  );
  return rows.map(({ reason }) => reason);
}
/** The newest lookup that the provider answered; one that reached nobody says nothing. */
export async function lastAnsweredLook(
  db: Queryable,
  operationId: string,
): Promise<AnsweredLook | undefined> {
  const { rows } = await db.query<Omit<AnsweredLook, 'atMs'> & { at: string }>(
    `select verdict, detail ->> 'match' as match, detail ->> 'state' as state, at from evidence
     where operation_id = $1 and type = 'lookup' and verdict in ('found', 'absent')
     order by evidence_id desc limit 1`,
    [operationId],
  );
  if (!rows[0]) return undefined;
  const { at, ...look } = rows[0];
  return { ...look, atMs: Date.parse(at) };
}

/** Effects of the operation that the provider has shown as done, newest last; ambiguous ones are nobody's. */
export async function knownEffects(db: Queryable, operationId: string): Promise<KnownEffect[]> {
  const { rows } = await db.query<KnownEffect>(
    `select coalesce(detail ->> 'reference', detail -> 'references' ->> 0) as reference,
       detail -> 'result' as result
     from evidence
     where operation_id = $1
       and (type = 'write_answer' and verdict = 'succeeded'
         or type = 'lookup' and verdict = 'found'
           and detail ->> 'match' = 'matching' and detail ->> 'state' = 'done')
     order by evidence_id`,
    [operationId],
  );
  return rows;
}

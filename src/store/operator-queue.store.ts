// What waits for an answer or for a person, oldest operation first, by (created_at, operation_id): a page boundary is a place that no
// look or retry moves.
import type { Operation } from '../domain/operation.ts';
import { amountOfMinor, type AmountAtRisk } from '../domain/money-at-risk.ts';
import { IS_HELD } from './holds.store.ts';
import { operationFromRow } from './operation-rows.ts';
import type { ListPlace } from './operation-list.store.ts';
import type { Queryable } from './pool.ts';
import { IS_OPEN_PROPOSAL } from './resolutions.store.ts';

export interface QueueEntry {
  readonly operation: Operation;
  /** When it came to its state. */
  readonly since: string;
  readonly attempts: number;
  readonly held: boolean;
  readonly lastLook: QueuedLook | null;
  /** First words that wait for a second person. */
  readonly proposals: readonly QueuedProposal[];
}

interface QueuedLook {
  readonly verdict: string;
  readonly match: string | null;
  readonly state: string | null;
  readonly at: string;
}

interface QueuedProposal {
  readonly outcome: 'succeeded' | 'failed';
  readonly provider_reference: string | null;
  readonly principal_id: string;
  readonly at: string;
}

/** Served by the index `operations_to_decide`. */
const IN_QUEUE = `o.account_id = $1 and o.status in ('UNKNOWN', 'RECONCILING', 'NEEDS_REVIEW')`;

const SINCE = `coalesce((
  select a.at from audit_events a
  where a.operation_id = o.operation_id and a.type = 'transition'
  order by a.event_id desc limit 1), o.created_at)`;

const LAST_LOOK = `(
  select json_build_object('verdict', e.verdict, 'match', e.detail ->> 'match',
    'state', e.detail ->> 'state', 'at', e.at)
  from evidence e where e.operation_id = o.operation_id and e.type = 'lookup'
  order by e.evidence_id desc limit 1)`;

const PROPOSALS = `(
  select coalesce(json_agg(json_build_object('outcome', p.outcome,
    'provider_reference', p.provider_reference, 'principal_id', p.principal_id,
    'at', p.proposed_at) order by p.proposed_at), '[]')
  from resolution_proposals p where p.operation_id = o.operation_id and ${IS_OPEN_PROPOSAL})`;

/** At most `limit` entries after a place. */
export async function readQueue(
  db: Queryable,
  accountId: string,
  after: ListPlace | undefined,
  limit: number,
): Promise<QueueEntry[]> {
  const { rows } = await db.query(
    `select o.*, ${SINCE} as since, ${IS_HELD} as held, ${LAST_LOOK} as last_look,
       ${PROPOSALS} as proposals,
       (select count(*)::int from attempts t where t.operation_id = o.operation_id) as attempts
     from operations o
     where ${IN_QUEUE}
       and (o.created_at, o.operation_id) > (coalesce($2::timestamptz, '-infinity'), $3)
     order by o.created_at, o.operation_id limit $4`,
    [accountId, after?.createdAt, after?.operationId ?? '', limit],
  );
  return rows.map((row) => ({
    operation: operationFromRow(row),
    since: row.since,
    attempts: row.attempts,
    held: row.held,
    lastLook: row.last_look && { ...row.last_look, at: time(row.last_look.at) },
    proposals: row.proposals.map((one: QueuedProposal) => ({ ...one, at: time(one.at) })),
  }));
}

/** Times inside JSON come in Postgres' own spelling. */
function time(text: string): string {
  return new Date(text).toISOString();
}

export interface QueueTotal extends AmountAtRisk {
  readonly operations: number;
}

/** How much the whole queue may have moved, by currency, and how many operations are in it. */
export async function queueTotals(
  db: Queryable,
  accountId: string,
): Promise<{ operations: number; atRisk: QueueTotal[] }> {
  const { rows } = await db.query<TotalRow>(
    `select currency, sum(minor)::text as minor, sum(many)::int as many from (
       select case when ${OF_TARGET} then o.plan #>> '{target,currency}'
                when ${OF_COMMAND} then o.command ->> 'currency' end as currency,
              case when ${OF_TARGET} then (o.plan #>> '{target,amount_minor}')::numeric
                when ${OF_COMMAND} then replace(o.command ->> 'amount', '.', '')::numeric end as minor,
              1 as many
       from operations o where ${IN_QUEUE}) each
     group by currency order by currency`,
    [accountId],
  );
  return {
    operations: rows.reduce((sum, row) => sum + row.many, 0),
    atRisk: rows.flatMap((row) => totalOf(row)),
  };
}

interface TotalRow {
  readonly currency: string | null;
  readonly minor: string | null;
  readonly many: number;
}

const OF_TARGET = `jsonb_typeof(o.plan -> 'target') = 'object'`;

/** Amounts of commands are canonical: without its point one is a number of minor units. Kinds without money may use the words too. */
const OF_COMMAND = String.raw`o.command ->> 'amount' ~ '^\d+(\.\d+)?$' and o.command ->> 'currency' ~ '^[A-Z]{3}$'`;

function totalOf({ currency, minor, many }: TotalRow): QueueTotal[] {
  const amount = currency === null || minor === null ? null : amountOfMinor(minor, currency);
  return amount ? [{ ...amount, operations: many }] : [];
}

// What the policy wants to know of the register before it decides about a claim: an equal earlier request, and the sums of the day.
import type { CeilingQuestion, PolicyCase, PolicyFindings } from '../domain/policy-case.ts';
import { twinOf } from './claim-statement.ts';
import type { Queryable } from './pool.ts';

/** The operation that is claimed, as far as these questions go. */
export interface Claimant {
  readonly accountId: string;
  readonly fingerprint: string;
}

export interface DayFindings extends PolicyFindings {
  /** Calendar day (UTC) of the sums, `2026-01-31`; the claim counts towards it, even where midnight passes in between. */
  readonly day: string;
}

/** True where the policy has to look into the register before it can decide. */
export function asksRegister({ asksForTwin, ceilings }: PolicyCase): boolean {
  return asksForTwin || ceilings.length > 0;
}

/**
 * Answers under locks that last until the end of the transaction, so that two claims at the same moment are not both told that there is
 * neither a twin nor anything spent.
 */
export async function findLocked(
  db: Queryable,
  claimant: Claimant,
  question: PolicyCase,
): Promise<DayFindings> {
  const { accountId, fingerprint } = claimant;
  const names = [
    ...(question.asksForTwin ? [`twin ${accountId} ${fingerprint}`] : []),
    ...question.ceilings.map(({ per, of }) => `ceiling ${accountId} ${per} ${of}`),
  ];
  // In one order for all, so that no two claims wait for each other.
  await db.query(
    `select pg_advisory_xact_lock(hashtextextended(name, 0))
     from unnest($1::text[]) with ordinality as locks (name, n) order by n`,
    [[...new Set(names)].toSorted()],
  );
  // A statement of its own: what it reads must be what stands after the wait.
  return find(db, claimant, question);
}

/** Answers for now, without a lock. */
export async function find(
  db: Queryable,
  claimant: Claimant,
  question: PolicyCase,
): Promise<DayFindings> {
  const { rows } = await db.query<{ day: string; hasTwin: boolean; sums: string[] }>(
    `select (clock.now at time zone 'UTC')::date::text as day,
       $4::boolean and ${twinOf('$1', '$2', 'clock.now')} is not null as "hasTwin",
       array(
         select (select coalesce(sum(r.amount_minor), 0) from ceiling_reservations r
           where r.account_id = $1 and r.day = (clock.now at time zone 'UTC')::date and r.holds
             and r.currency = q.currency and r.kind in (select jsonb_array_elements_text(q.kinds))
             and case q.per when 'agent' then r.agent_id = q.of
                   when 'destination' then r.destination = q.of else true end)
         from rows from (jsonb_to_recordset($3::jsonb) as
             (kinds jsonb, currency text, per text, of text)) with ordinality as q (kinds, currency, per, of, n)
         order by q.n)::text[] as sums
     from (select holdfast_now() as now) clock`,
    [
      claimant.accountId,
      claimant.fingerprint,
      JSON.stringify(question.ceilings),
      question.asksForTwin,
    ],
  );
  if (!rows[0]) throw new Error('a select without from answers one row');
  const { day, hasTwin, sums } = rows[0];
  return { day, hasTwin, spent: spentOf(question.ceilings, sums) };
}

function spentOf(ceilings: readonly CeilingQuestion[], sums: readonly string[]) {
  return new Map(ceilings.map(({ ceiling }, n) => [ceiling, BigInt(sums[n] ?? 0)]));
}

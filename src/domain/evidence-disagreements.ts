// Where the rows of an operation say something else than its audit, as sentences. Pure, so that whoever has a bundle compares as the
// server did; tools/verify_audit.py has the same rules and sentences, and shares no code.
import type { AuditMembers } from './audit-chain.ts';
import { disagreementsOnApprovals } from './evidence-approvals.ts';
import type { JudgedRows, OperationFacts } from './evidence-bundle.ts';
import { isSettled, type OperationState } from './operation-state.ts';

/** The claim of an operation; one without a state is that of a further key. */
export const isOwnClaim = ({ type, to }: AuditMembers): boolean =>
  type === 'claimed' && to !== undefined;

/**
 * Compares rows with the events of the operation, given in the order in which they were written. `mayBeCut`: retention may have removed
 * the oldest, so what has no event is no disagreement.
 */
export function disagreementsOf(
  { row, approvals }: JudgedRows,
  events: readonly AuditMembers[],
  mayBeCut: boolean,
): string[] {
  const isCut = !events.some(isOwnClaim);
  if (isCut && !mayBeCut) return ['the audit has no claim of this operation'];
  const found = [
    ...events.flatMap((event) => disagreementsWithTerms(row, event)),
    ...disagreementsOnState(row, events),
    ...disagreementsOnResult(row, events),
    ...disagreementsOnApprovals({ row, approvals }, events, isCut),
  ];
  return [...new Set(found)];
}

/** Transitions name what was claimed again: they outlive the claim where retention cuts between. */
function disagreementsWithTerms(row: OperationFacts, event: AuditMembers): string[] {
  if (!isOwnClaim(event) && event.type !== 'transition') return [];
  const pairs: [string, unknown, unknown][] = [
    ['fingerprint', row.fingerprint, event.fingerprint],
    ['idempotency key', row.idempotency_key, event.key],
    ['agent', row.agent_id, isOwnClaim(event) ? event.principal : row.agent_id],
    ['agent run', row.agent_run ?? undefined, event.agent_run],
  ];
  return pairs.flatMap(([name, ours, theirs]) =>
    ours === theirs ? [] : [`the ${name} of the row is not the one that was claimed`],
  );
}

function disagreementsOnState(row: OperationFacts, events: readonly AuditMembers[]): string[] {
  const problems: string[] = [];
  let state: string | undefined;
  for (const event of events) {
    if (isOwnClaim(event)) state = event.to;
    if (event.type !== 'transition') continue;
    if (state !== undefined && event.from !== state) {
      problems.push(
        `a transition begins in ${event.from}, and the one before it ended in ${state}`,
      );
    }
    state = event.to;
  }
  if (state !== undefined && state !== row.status) {
    problems.push(`the row is ${row.status}, and the last transition ended in ${state}`);
  }
  return problems;
}

function disagreementsOnResult(row: OperationFacts, events: readonly AuditMembers[]): string[] {
  const isCut = !events.some((event) => isOwnClaim(event) || event.type === 'transition');
  const bytes = events.findLast(setsBytes);
  const stored = row.response_sha256 === (bytes?.response_hash ?? null);
  return [
    ...(stored || (isCut && !bytes)
      ? []
      : ['the stored bytes are not those that the audit has the digest of']),
    ...(isCut || row.provider_reference === referenceIn(events)
      ? []
      : ['the provider reference is not the one that the audit has']),
  ];
}

/** Retention and erasure replace the stored bytes, and their event has the digest of the new ones. */
function setsBytes({ type, detail }: AuditMembers): boolean {
  const step = detail?.['step'];
  return (
    type === 'transition' || (type === 'resolved' && (step === 'erased' || step === 'expired'))
  );
}

/** Every transition names it. A provider that works on it may have named it in between; a settled operation takes no more of that. */
function referenceIn(events: readonly AuditMembers[]): string | null {
  const at = events.findLastIndex((event) => event.type === 'transition');
  const last = events[at];
  const accepted = events
    .slice(at + 1)
    .findLast(
      ({ type, detail, provider_reference: reference }) =>
        type === 'provider_answer' && detail?.['outcome'] === 'pending' && reference !== undefined,
    );
  const isOpen = !last || !isSettled(last.to as OperationState);
  return (isOpen ? accepted?.provider_reference : undefined) ?? last?.provider_reference ?? null;
}

// Approvals and the events that tell of them, compared in both directions: a row that nobody decided about shows, and so does a decision
// that was left out.
import type { AuditMembers } from './audit-chain.ts';
import type { ApprovalFacts, JudgedRows, VoteFacts } from './evidence-bundle.ts';

/** `isCut`: the oldest events are gone, so an approval that the audit does not know proves nothing. */
export function disagreementsOnApprovals(
  { row, approvals }: JudgedRows,
  events: readonly AuditMembers[],
  isCut: boolean,
): string[] {
  const told = statusesIn(events);
  const missing = [...told.keys()].filter(
    (id) => !approvals.some((approval) => approval.approval_id === id),
  );
  const known = approvals.filter((approval) => !isCut || told.has(approval.approval_id));
  return [
    ...missing.map((id) => `approval ${id} is in the audit, and missing beside it`),
    ...known.flatMap((approval) => [
      ...disagreementsOnStatus(approval, told.get(approval.approval_id), events),
      ...disagreementsOnSubject(approval, row.fingerprint, events),
      ...disagreementsOnVotes(approval, events),
    ]),
    ...events.flatMap((event) => disagreementsOnUse(event, approvals)),
  ];
}

/** What became of each approval, by its events. A vote that is not the last leaves it pending; a cancellation has no event of its own. */
function statusesIn(events: readonly AuditMembers[]): Map<string, string> {
  const told = new Map<string, string>();
  for (const { type, to, detail } of events) {
    const id = detail?.['approval_id'];
    const decision = detail?.['decision'];
    if (type === 'transition' && to === 'CANCELED') {
      for (const [open, status] of told) {
        if (status === 'pending' || status === 'approved') told.set(open, 'void');
      }
    }
    if (typeof id !== 'string') continue;
    if (type === 'approval_requested') told.set(id, 'pending');
    if (type === 'approval_decided' && decision !== 'vote') told.set(id, String(decision));
  }
  return told;
}

function disagreementsOnStatus(
  { approval_id: id, status, decided_at: decidedAt }: ApprovalFacts,
  told: string | undefined,
  events: readonly AuditMembers[],
): string[] {
  if (status !== told) {
    return [`approval ${id} is ${status}, and the audit says ${told ?? 'nothing of it'}`];
  }
  const isDecided = status === 'approved' || status === 'rejected';
  const isThen = events.some(
    (event) =>
      isAbout(event, id) && event.detail?.['decision'] === status && event.at === decidedAt,
  );
  return isDecided && !isThen ? [`approval ${id} was decided at another time`] : [];
}

function disagreementsOnSubject(
  { approval_id: id, fingerprint, consumed_at: usedAt }: ApprovalFacts,
  claimed: string,
  events: readonly AuditMembers[],
): string[] {
  const isUsed = events.some(({ type, at }) => type === 'intent' && at === usedAt);
  return [
    ...(fingerprint === claimed ? [] : [`approval ${id} is of another fingerprint`]),
    ...(usedAt === null || isUsed ? [] : [`approval ${id} was used when nothing was begun`]),
  ];
}

function disagreementsOnVotes(approval: ApprovalFacts, events: readonly AuditMembers[]): string[] {
  const { approval_id: id, status, votes } = approval;
  const words = events.filter((event) => isAbout(event, id) && isOfPerson(event));
  const strange = votes.filter((vote) => !words.some((event) => tells(event, vote, approval)));
  const missing = words.filter(
    ({ principal, at, detail }) =>
      // A no takes the place of an earlier yes of the same owner.
      !(status === 'rejected' && detail?.['decision'] === 'vote') &&
      !votes.some((vote) => vote.principal_id === principal && vote.decided_at === at),
  );
  return [
    ...strange.map(
      (vote) => `the audit has no such decision of ${vote.principal_id} about approval ${id}`,
    ),
    ...missing.map(
      ({ principal }) => `the decision of ${principal} about approval ${id} is missing`,
    ),
  ];
}

const isAbout = ({ type, detail }: AuditMembers, approvalId: string): boolean =>
  type === 'approval_decided' && detail?.['approval_id'] === approvalId;

const isOfPerson = ({ detail }: AuditMembers): boolean =>
  ['vote', 'approved', 'rejected'].includes(String(detail?.['decision']));

function tells(
  { principal, at, detail }: AuditMembers,
  { principal_id: by, decided_at: decidedAt, decision, signed }: VoteFacts,
  { quorum }: ApprovalFacts,
): boolean {
  const { kid, plan_hash: planHash } = (signed ?? {}) as Readonly<Record<string, unknown>>;
  const isSame = detail?.['decision'] === decision;
  const isVote = detail?.['decision'] === 'vote' && decision === 'approved';
  return (
    principal === by &&
    at === decidedAt &&
    (isSame || isVote) &&
    detail?.['kid'] === kid &&
    detail?.['plan_hash'] === planHash &&
    detail?.['quorum'] === quorum
  );
}

/** What waited for people was sent by an approval that was used in the same moment. */
function disagreementsOnUse(
  { type, from, to, at }: AuditMembers,
  approvals: readonly ApprovalFacts[],
): string[] {
  if (type !== 'transition' || from !== 'AWAITING_APPROVAL' || to !== 'IN_PROGRESS') return [];
  const used = approvals.some(
    ({ status, consumed_at: usedAt }) => status === 'approved' && usedAt === at,
  );
  return used ? [] : ['it waited for people and was begun, and no approval was used for that'];
}

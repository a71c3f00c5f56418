// The use case: the evidence of one operation, for whoever has to be convinced without access to this system.
import type { DecisionVerifier } from '../domain/approval-decision.ts';
import { entryLine, membersOf, type AuditMembers } from '../domain/audit-chain.ts';
import type { EvidenceBundle, InclusionProof } from '../domain/evidence-bundle.ts';
import { disagreementsOnDecisions } from '../domain/evidence-decisions.ts';
import { disagreementsOf, isOwnClaim } from '../domain/evidence-disagreements.ts';
import { fingerprintOf } from '../domain/fingerprint.ts';
import type { Removal } from '../domain/personal-data.ts';
import { headsFrom, readCheckpoint, readSealed } from '../store/audit-sealing.store.ts';
import {
  withEvidence,
  type EvidenceParts,
  type FiledEvent,
} from '../store/evidence-bundle.store.ts';
import type { Pool, Queryable } from '../store/pool.ts';
import { submitterOwners } from '../store/submitter-owners.store.ts';

export interface EvidenceSources {
  readonly pool: Pool;
  /** The desk's public keys: a row that says "approved" is believed by its signatures. */
  readonly deskKeys: DecisionVerifier;
}

/** Undefined where the account has no such operation. */
export async function evidenceOf(
  { pool, deskKeys }: EvidenceSources,
  accountId: string,
  operationId: string,
): Promise<EvidenceBundle | undefined> {
  return withEvidence(pool, accountId, operationId, async (db, parts) => {
    const operation = parts.row;
    const sealed = parts.events.flatMap(inPlace).toSorted((a, b) => a.sequence - b.sequence);
    const checkpoint = await readCheckpoint(db, accountId);
    const told = parts.events.map(toldBy);
    const submitters = await submitterOwners(db, operationId);
    const disagreements = [
      ...disagreementsOf(parts, told, checkpoint !== undefined),
      ...disagreementsOnDecisions(parts, deskKeys, submitters),
      ...disagreementsOnCommand(parts, told),
    ];
    return {
      v: 1,
      operation,
      policy_decision: parts.policyDecision ?? null,
      approvals: parts.approvals,
      attempts: parts.attempts,
      statements: parts.statements,
      entries: sealed.map(({ entry, hash }) => entryLine(entry, hash)),
      proofs: await proofsOf(db, accountId, sealed),
      unsealed: parts.events.length - sealed.length,
      checkpoint: checkpoint ?? null,
      consistent: disagreements.length === 0,
      disagreements,
    };
  });
}

/**
 * Once retention or erasure took what is personal, the rest hashes to something else; only their event in the audit excuses that, which
 * is never cut off without the claim.
 */
function disagreementsOnCommand(
  { row, command }: EvidenceParts,
  told: readonly AuditMembers[],
): string[] {
  const { account_id: accountId, kind, kind_version: kindVersion, fingerprint } = row;
  const isReduced = told.some(
    ({ type, detail }) => type === 'resolved' && REMOVALS.has(detail?.['step']),
  );
  const claimed = fingerprintOf({ accountId, kind, kindVersion, command });
  return isReduced || !told.some(isOwnClaim) || claimed === fingerprint
    ? []
    : ['the stored command does not hash to the fingerprint'];
}

const REMOVALS: ReadonlySet<unknown> = new Set<Removal>(['erased', 'expired']);

interface Placed {
  readonly sequence: number;
  readonly entry: string;
  readonly hash: string;
}

const inPlace = ({ sequence, entry, hash }: FiledEvent): Placed[] =>
  sequence === null || entry === null || hash === null
    ? []
    : [{ sequence: Number(sequence), entry, hash }];

function toldBy(event: EvidenceParts['events'][number]): AuditMembers {
  return event.entry === null ? membersOf(event) : (JSON.parse(event.entry) as AuditMembers);
}

/** One proof for each head that seals entries of the operation. */
async function proofsOf(
  db: Queryable,
  accountId: string,
  sealed: readonly Placed[],
): Promise<InclusionProof[]> {
  const proofs: InclusionProof[] = [];
  for (const { sequence } of sealed) {
    if (sequence <= (proofs.at(-1)?.head.sequence ?? 0)) continue;
    const [head] = await headsFrom(db, accountId, sequence, 1);
    if (!head) break;
    const length = head.sequence - head.first + 1;
    const batch = await readSealed(db, accountId, head.first - 1, length);
    proofs.push({ hashes: batch.map(({ hash }) => hash), head });
  }
  return proofs;
}

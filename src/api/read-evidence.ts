// The use case: the evidence of one operation, for whoever has to be convinced without access to this system.
import { entryLine, membersOf, type AuditMembers } from '../domain/audit-chain.ts';
import {
  disagreementsOf,
  type EvidenceBundle,
  type InclusionProof,
} from '../domain/evidence-bundle.ts';
import { headsFrom, readCheckpoint, readSealed } from '../store/audit-sealing.store.ts';
import {
  withEvidence,
  type EvidenceParts,
  type FiledEvent,
} from '../store/evidence-bundle.store.ts';
import type { Pool, Queryable } from '../store/pool.ts';

/** Undefined where the account has no such operation. */
export async function evidenceOf(
  pool: Pool,
  accountId: string,
  operationId: string,
): Promise<EvidenceBundle | undefined> {
  return withEvidence(pool, accountId, operationId, async (db, parts) => {
    const operation = parts.row;
    const sealed = parts.events.flatMap(inPlace).toSorted((a, b) => a.sequence - b.sequence);
    const checkpoint = await readCheckpoint(db, accountId);
    const told = parts.events.map(toldBy);
    const disagreements = disagreementsOf(parts, told, checkpoint === undefined);
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

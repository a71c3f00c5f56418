// What a person said about an operation: their words and names as evidence that can be erased, and in the audit only a salted hash.
import { randomBytes } from 'node:crypto';
import type { Resolution } from '../domain/resolution.ts';
import { sha256Hex } from '../domain/sha256.ts';
import { auditOf, type AuditEvent } from './audit.store.ts';
import { recordEvidence } from './evidence.store.ts';
import type { LockedFile } from './operations.store.ts';
import type { Principal } from './principals.store.ts';
import type { Queryable } from './pool.ts';

/** Who decides: their account bounds what they reach, their owner what they may decide about. */
export type Decider = Pick<Principal, 'principalId' | 'accountId' | 'owner'>;

export interface Statement extends Pick<Resolution, 'providerReference' | 'externalCheck'> {
  readonly by: Decider;
  /** A first word that waits for a second, one that counted, or a release. */
  readonly step: 'proposed' | 'applied' | 'released';
  readonly says: 'succeeded' | 'failed' | 'released';
  readonly evidence: string;
}

const ROUTES: Readonly<Record<Statement['step'], string>> = {
  proposed: '/operator/operations/{id}/resolve',
  applied: '/operator/operations/{id}/resolve',
  released: '/operator/operations/{id}/release',
};

/** Keeps the statement as evidence; answers its audit event, which the caller appends with what else it changes. */
export async function recordStatement(
  db: Queryable,
  { operation, now }: LockedFile,
  statement: Statement,
): Promise<AuditEvent> {
  const { by, step, says, evidence, providerReference, externalCheck } = statement;
  const said = { principal_id: by.principalId, step, evidence, external_check: externalCheck };
  const salt = randomBytes(16).toString('hex');
  await recordEvidence(db, {
    operationId: operation.operationId,
    type: 'person',
    verdict: says,
    detail: { ...said, provider_reference: providerReference, salt },
    at: now,
  });
  return {
    ...auditOf(operation, 'resolved', now),
    principalId: by.principalId,
    agentRun: null,
    route: ROUTES[step],
    providerReference,
    detail: { step, outcome: says, evidence_sha256: commitmentTo(salt, evidence) },
  };
}

/** Hash of the evidence that proves it for as long as the salt beside it is kept, and nothing once both are erased. */
function commitmentTo(salt: string, evidence: string): string {
  return sha256Hex(`${salt}\n${evidence}`);
}

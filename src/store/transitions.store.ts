// The only writer of an operation's state. A change names the version it read, writes its audit events in the same transaction,
// stores the bytes when it settles, and gives the claims back when nothing happened (contract §2).
import type { Change } from '../domain/settlement.ts';
import type { Operation, OperationFile } from '../domain/operation.ts';
import { isSettled, mayMove, releasesClaims } from '../domain/operation-state.ts';
import { renderOperation } from '../domain/representation.ts';
import { sha256Hex } from '../domain/sha256.ts';
import { auditInsert, auditOf, auditRows, type AuditEvent } from './audit.store.ts';
import { recordEvidence } from './evidence.store.ts';
import { releaseClaims, retakeClaims } from './held-claims.store.ts';
import { OPERATION_COLUMNS } from './operation-rows.ts';
import type { Queryable } from './pool.ts';
import { run, type Prepared } from './prepared.ts';

/** Members that a change without a change of state may set as well. */
export type Patch = Partial<
  Pick<Operation, 'providerReference' | 'lastError' | 'unknownSince' | 'safeResendUntil'>
>;

export interface MoveOptions {
  readonly patch?: Patch;
  /** Into the audit before the transition. */
  readonly events?: readonly AuditEvent[];
  /** The principal whose decision it is, where that isn't the submitter. */
  readonly by?: string | undefined;
}

/**
 * Moves an operation to `change.to` at database time `now`. Answers the new file, or undefined where somebody else changed the
 * operation first: then nothing was written. Throws on a move that the table of states does not have.
 */
export async function moveOperation(
  db: Queryable,
  file: OperationFile,
  now: string,
  change: Change,
  { patch = {}, events = [], by }: MoveOptions = {},
): Promise<OperationFile | undefined> {
  const before = file.operation;
  if (!mayMove(before.status, change.to)) {
    throw new Error(`no move from ${before.status} to ${change.to}`);
  }
  const after = { ...file, operation: applied(before, now, change, patch) };
  const stored = isSettled(change.to) ? renderOperation(after) : null;
  const responseStatus = stored === null ? null : 200;
  const operation = { ...after.operation, responseBody: stored, responseStatus };
  const moved = { ...transitionEvent(before, operation, now), principalId: by ?? before.agentId };
  if (!(await writeIfUnchanged(db, before, operation, [...events, moved]))) return undefined;
  if (before.responseBody !== null) await keepWithdrawn(db, before, now);
  if (releasesClaims(change.to)) await releaseClaims(db, operation.operationId);
  else if (releasesClaims(before.status)) await retakeClaims(db, operation);
  return { ...file, operation };
}

/** Changes members that are no state, with the same check on the version; `events` tell why. */
export async function patchOperation(
  db: Queryable,
  file: OperationFile,
  now: string,
  patch: Patch,
  events: readonly AuditEvent[] = [],
): Promise<OperationFile | undefined> {
  const before = file.operation;
  const operation = { ...before, ...patch, updatedAt: now, version: before.version + 1 };
  const written = await writeIfUnchanged(db, before, operation, events);
  return written ? { ...file, operation } : undefined;
}

function applied(before: Operation, now: string, change: Change, patch: Patch): Operation {
  const settled = isSettled(change.to);
  return {
    ...before,
    ...patch,
    status: change.to,
    version: before.version + 1,
    result: change.result ?? (settled ? null : before.result),
    error: change.error ?? null,
    providerReference:
      change.providerReference ?? patch.providerReference ?? before.providerReference,
    reviewReason: change.reviewReason ?? null,
    unknownSince: change.to === 'UNKNOWN' ? now : (patch.unknownSince ?? before.unknownSince),
    updatedAt: now,
    settledAt: settled ? now : null,
    wordsAt: settled ? now : null,
    resolvedBy: change.resolvedBy ?? before.resolvedBy,
  };
}

const WRITTEN = [
  'status',
  'version',
  'providerReference',
  'safeResendUntil',
  'reviewReason',
  'result',
  'error',
  'lastError',
  'unknownSince',
  'responseStatus',
  'responseBody',
  'updatedAt',
  'settledAt',
  'wordsAt',
  'resolvedBy',
] as const satisfies readonly (keyof Operation)[];

const SET_LIST = WRITTEN.map((member, n) => `${OPERATION_COLUMNS[member]} = $${n + 5}`).join(', ');

const WRITE_OPERATION: Prepared = {
  name: 'write_operation',
  text: `with written as (
       update operations set ${SET_LIST} where operation_id = $1 and status = $2 and version = $3
       returning operation_id),
     told as (${auditInsert('$4', 'exists (select from written)')})
     select operation_id from written`,
};

/** The compare-and-set on (state, version) that makes concurrent workers safe, with the events that tell of it: one can't be without the other. */
async function writeIfUnchanged(
  db: Queryable,
  before: Operation,
  after: Operation,
  events: readonly AuditEvent[],
): Promise<boolean> {
  const { rowCount } = await run(db, WRITE_OPERATION, [
    before.operationId,
    before.status,
    before.version,
    auditRows(events),
    ...WRITTEN.map((member) => after[member]),
  ]);
  return rowCount === 1;
}

/** Stored bytes that turned out wrong are no longer replayed, but they were given to somebody: they stay as evidence. */
async function keepWithdrawn(db: Queryable, before: Operation, now: string): Promise<void> {
  await recordEvidence(db, {
    operationId: before.operationId,
    type: 'withdrawn_response',
    verdict: before.status,
    detail: { response_body: before.responseBody },
    at: now,
  });
}

function transitionEvent(before: Operation, after: Operation, now: string): AuditEvent {
  const { responseBody } = after;
  return {
    ...auditOf(after, 'transition', now),
    from: before.status,
    to: after.status,
    providerReference: after.providerReference,
    ...(responseBody === null ? {} : { responseSha256: sha256Hex(responseBody) }),
  };
}

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

/** A row as it was read and as it becomes, with the events that tell of it. */
export interface RowChange {
  readonly before: Operation;
  readonly after: Operation;
  readonly events: readonly AuditEvent[];
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
  options: MoveOptions = {},
): Promise<OperationFile | undefined> {
  const move = prepareMove(file, now, change, options);
  const { before, after } = move;
  if (!(await writeIfUnchanged(db, move))) return undefined;
  if (before.responseBody !== null) await keepWithdrawn(db, before, now);
  if (releasesClaims(change.to)) await releaseClaims(db, after.operationId);
  else if (releasesClaims(before.status)) await retakeClaims(db, after);
  return { ...file, operation: after };
}

/** The move without what it does to others: the row with its stored bytes, and the events. */
export function prepareMove(
  file: OperationFile,
  now: string,
  change: Change,
  { patch = {}, events = [], by }: MoveOptions = {},
): RowChange {
  const before = file.operation;
  if (!mayMove(before.status, change.to)) {
    throw new Error(`no move from ${before.status} to ${change.to}`);
  }
  const moved = { ...file, operation: applied(before, now, change, patch) };
  const responseBody = isSettled(change.to) ? renderOperation(moved) : null;
  const responseStatus = responseBody === null ? null : 200;
  const after = { ...moved.operation, responseBody, responseStatus };
  const principalId = by ?? before.agentId;
  return { before, after, events: [...events, { ...transitionEvent(before, after), principalId }] };
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
  const after = { ...before, ...patch, updatedAt: now, version: before.version + 1 };
  const written = await writeIfUnchanged(db, { before, after, events });
  return written ? { ...file, operation: after } : undefined;
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

/** Parameters that `writeIf` takes; what a statement needs besides comes after them. */
export const WRITE_PARAMETERS = WRITTEN.length + 4;

/** Writes a change and its events where the row is as it was read, and where `condition` holds: `written` has a row then. */
export const writeIf = (condition: string): string =>
  `written as (
       update operations set ${SET_LIST}
       where operation_id = $1 and status = $2 and version = $3 and ${condition}
       returning operation_id, updated_at),
     told as (${auditInsert('$4', 'written')})`;

/** A change as `writeIf` takes it. */
export const writeValues = ({ before, after, events }: RowChange): unknown[] => [
  before.operationId,
  before.status,
  before.version,
  auditRows(events),
  ...WRITTEN.map((member) => after[member]),
];

const WRITE_OPERATION: Prepared = {
  name: 'write_operation',
  text: `with ${writeIf('true')} select from written`,
};

/** The compare-and-set on (state, version) that makes concurrent workers safe, with the events that tell of it: one can't be without the other. */
async function writeIfUnchanged(db: Queryable, change: RowChange): Promise<boolean> {
  const { rowCount } = await run(db, WRITE_OPERATION, writeValues(change));
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

/** The event of a change from one row to another. */
export function transitionEvent(before: Operation, after: Operation): AuditEvent {
  const { responseBody } = after;
  return {
    ...auditOf(after, 'transition', after.updatedAt),
    from: before.status,
    to: after.status,
    providerReference: after.providerReference,
    ...(responseBody === null ? {} : { responseSha256: sha256Hex(responseBody) }),
  };
}

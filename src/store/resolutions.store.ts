// What people decide about operations that machines could not settle: resolving them, and giving a business key back. Each is one
// transaction under the operation's lock, so it needs no open workflow and can't cross with an outcome that arrives meanwhile.
import type { Operation, OperationFile } from '../domain/operation.ts';
import {
  changeByPerson,
  refusalToResolve,
  stepOfTwo,
  type Proposal,
  type Refusal,
  type Resolution,
  type ResolutionFacts,
} from '../domain/resolution.ts';
import { appendAudit } from './audit.store.ts';
import { knownEffects, lastAnsweredLook } from './evidence.store.ts';
import { lockFile, type LockedFile } from './operations.store.ts';
import { enqueue } from './outbox.store.ts';
import { recordStatement, type Decider, type Statement } from './person-statements.store.ts';
import type { Pool, Queryable } from './pool.ts';
import { submitterOwners } from './submitter-owners.store.ts';
import { inTransaction } from './transaction.ts';
import { moveOperation } from './transitions.store.ts';

export interface ResolveRequest extends Resolution {
  readonly operationId: string;
  readonly by: Decider;
  /** What the person has seen, in their words. */
  readonly evidence: string;
  /** What configuration says about this operation. */
  readonly rulesOf: (operation: Operation) => {
    readonly canLookUp: boolean;
    readonly needsTwo: boolean;
  };
}

export type ResolveResult =
  | { readonly status: 'not_found' }
  | { readonly status: 'refused'; readonly refusal: Refusal; readonly file: OperationFile }
  /** Stored: somebody of another owner has to say the same. */
  | { readonly status: 'awaiting_second'; readonly file: OperationFile; readonly at: string }
  | { readonly status: 'applied'; readonly file: OperationFile };

/** Settles an operation by a person's word, or stores that word where a second person has to agree. */
export async function resolveOperation(
  pool: Pool,
  request: ResolveRequest,
): Promise<ResolveResult> {
  return inTransaction(pool, async (db) => {
    const file = await lockFile(db, request.operationId);
    if (file?.operation.accountId !== request.by.accountId) return { status: 'not_found' };
    const { canLookUp, needsTwo } = request.rulesOf(file.operation);
    const facts = await factsOf(db, file, request.by.owner, canLookUp);
    const refusal = refusalToResolve(request, facts);
    if (refusal) return { status: 'refused', refusal, file };
    const proposals = needsTwo ? await openProposals(db, request.operationId) : [];
    const step = needsTwo ? stepOfTwo(request, request.by.owner, proposals) : 'apply';
    if (step === 'same_person') return { status: 'refused', refusal: SECOND_REQUIRED, file };
    return step === 'wait' ? propose(db, file, request) : apply(db, file, request);
  });
}

const SECOND_REQUIRED: Refusal = {
  code: 'second_person_required',
  detail: 'This is stored already; somebody of another owner has to say the same.',
};

async function factsOf(
  db: Queryable,
  { operation, attempts, now }: LockedFile,
  owner: string,
  canLookUp: boolean,
): Promise<ResolutionFacts> {
  const { operationId } = operation;
  return {
    operation,
    attempts,
    nowMs: Date.parse(now),
    owner,
    submitterOwners: await submitterOwners(db, operationId),
    canLookUp,
    lastLook: await lastAnsweredLook(db, operationId),
  };
}

/** Those made since the operation was last reopened: what came before was about another question. */
async function openProposals(db: Queryable, operationId: string): Promise<Proposal[]> {
  const { rows } = await db.query<Proposal>(
    `select owner, outcome, provider_reference as "providerReference"
     from resolution_proposals p where operation_id = $1 and ${IS_OPEN_PROPOSAL}`,
    [operationId],
  );
  return rows;
}

/** SQL condition over `resolution_proposals p`. */
export const IS_OPEN_PROPOSAL = `not exists (
  select 1 from evidence e
  where e.operation_id = p.operation_id and e.type = 'withdrawn_response' and e.at >= p.proposed_at)`;

async function propose(
  db: Queryable,
  file: LockedFile,
  request: ResolveRequest,
): Promise<ResolveResult> {
  const { operationId, by, outcome, providerReference } = request;
  await db.query(
    `insert into resolution_proposals
       (operation_id, owner, principal_id, outcome, provider_reference, proposed_at)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (operation_id, owner) do update
     set principal_id = excluded.principal_id, outcome = excluded.outcome,
       provider_reference = excluded.provider_reference, proposed_at = excluded.proposed_at`,
    [operationId, by.owner, by.principalId, outcome, providerReference, file.now],
  );
  await appendAudit(db, [await recordStatement(db, file, statementOf(request, 'proposed'))]);
  return { status: 'awaiting_second', file, at: file.now };
}

async function apply(
  db: Queryable,
  file: LockedFile,
  request: ResolveRequest,
): Promise<ResolveResult> {
  const { operationId, by } = request;
  const known = await knownEffects(db, operationId);
  const change = changeByPerson(file.operation, request, known, by.principalId);
  const resolved = await recordStatement(db, file, statementOf(request, 'applied'));
  await enqueue(db, operationId, 'wake');
  const moved = await moveOperation(db, file, file.now, change, {
    events: [resolved],
    by: by.principalId,
  });
  if (!moved) throw new Error(`operation ${operationId} changed under its lock`);
  return { status: 'applied', file: moved };
}

function statementOf(request: ResolveRequest, step: 'proposed' | 'applied'): Statement {
  const { by, outcome, providerReference, externalCheck, evidence } = request;
  return { by, step, says: outcome, evidence, providerReference, externalCheck };
}

export interface ReleaseRequest {
  readonly operationId: string;
  readonly by: Decider;
  readonly evidence: string;
}

export type ReleaseResult =
  | { readonly status: 'not_found' }
  | { readonly status: 'refused'; readonly refusal: Refusal; readonly file: OperationFile }
  /** Also where it had been given back before: then nothing was written. */
  | { readonly status: 'released'; readonly file: OperationFile };

/** Gives the business key of a succeeded operation back, so that another key may claim it. Locks and shares of a target stay. */
export async function releaseBusinessKey(
  pool: Pool,
  request: ReleaseRequest,
): Promise<ReleaseResult> {
  return inTransaction(pool, async (db) => {
    const file = await lockFile(db, request.operationId);
    if (file?.operation.accountId !== request.by.accountId) return { status: 'not_found' };
    const owners = await submitterOwners(db, request.operationId);
    const refusal = refusalToRelease(file.operation, owners.includes(request.by.owner));
    if (refusal) return { status: 'refused', refusal, file };
    const { rowCount } = await db.query('delete from business_keys where operation_id = $1', [
      request.operationId,
    ]);
    if (rowCount === 0) return { status: 'released', file };
    const { by, evidence } = request;
    const none = { providerReference: null, externalCheck: null };
    const statement = { by, step: 'released', says: 'released', evidence, ...none } as const;
    await appendAudit(db, [await recordStatement(db, file, statement)]);
    return { status: 'released', file };
  });
}

function refusalToRelease(operation: Operation, isOwn: boolean): Refusal | undefined {
  if (isOwn) {
    return { code: 'own_request', detail: 'Somebody of another owner has to release this.' };
  }
  if (operation.status !== 'SUCCEEDED') {
    return { code: 'wrong_state', detail: 'Only a succeeded operation gives its key back so.' };
  }
  return operation.businessKey === null
    ? { code: 'wrong_state', detail: 'This operation holds no business key.' }
    : undefined;
}

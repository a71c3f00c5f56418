// Acting on an earlier operation: its row is locked, what others hold of it is read, and the kind's rule is asked.
import type { ProblemCode } from '../domain/error-catalogue.ts';
import type { FrozenTarget } from '../domain/execution-plan.ts';
import type { Operation } from '../domain/operation.ts';
import type { Admission, Target, TargetClaim } from '../domain/target.ts';
import { operationFromRow } from './operation-rows.ts';
import type { Queryable } from './pool.ts';

export type TargetResult =
  | {
      readonly admitted: true;
      readonly target: FrozenTarget;
      /** The target's row as it was read. */
      readonly operation: Operation;
    }
  | {
      readonly admitted: false;
      readonly code: ProblemCode;
      readonly detail: string;
      /** Undefined where there is no such operation. */
      readonly operation?: Operation;
    };

export interface TargetQuestion {
  readonly operationId: string;
  readonly kind: string;
  readonly admit: (target: Target) => Admission;
}

/** Asks the rule under the target's lock, so that concurrent operations on one target are judged one after the other. */
export async function admitToTarget(
  db: Queryable,
  accountId: string,
  question: TargetQuestion,
): Promise<TargetResult> {
  return judged(await readTarget(db, accountId, question, 'for no key update'), question);
}

/** Asks the rule without a lock and holds nothing: an answer for now, which a claim may find changed. */
export async function previewTarget(
  db: Queryable,
  accountId: string,
  question: TargetQuestion,
): Promise<TargetResult> {
  return judged(await readTarget(db, accountId, question, ''), question);
}

function judged(target: Target | undefined, question: TargetQuestion): TargetResult {
  if (!target) {
    const detail = `There is no ${question.kind} operation with this id.`;
    return { admitted: false, code: 'not_found', detail };
  }
  const admission = question.admit(target);
  if (!admission.admitted) return { ...admission, operation: target.operation };
  const { operationId, providerReference } = target.operation;
  return {
    admitted: true,
    operation: target.operation,
    target: {
      operation_id: operationId,
      provider_reference: providerReference ?? '',
      amount_minor: admission.amountMinor,
      currency: admission.currency,
    },
  };
}

/** Two statements: the claims must be read after the wait for the lock. */
async function readTarget(
  db: Queryable,
  accountId: string,
  { operationId, kind }: TargetQuestion,
  lock: 'for no key update' | '',
): Promise<Target | undefined> {
  const locked = await db.query(
    `select * from operations
     where operation_id = $1 and account_id = $2 and kind = $3 ${lock}`,
    [operationId, accountId, kind],
  );
  if (!locked.rows[0]) return undefined;
  const { rows } = await db.query<TargetClaim>(
    `select o.kind, o.status, t.amount_minor as "amountMinor"
     from target_claims t join operations o using (operation_id)
     where t.target_operation_id = $1`,
    [operationId],
  );
  return { operation: operationFromRow(locked.rows[0]), claims: rows };
}

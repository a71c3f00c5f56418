// What tests of people's decisions need: a second operator of another owner, operations with a lost answer, lookups, and a caller.
import type { LookupAnswer } from '../../src/domain/outcome.ts';
import { addPrincipals } from '../../src/store/principals.store.ts';
import { openReconciliation, recordLook } from '../../src/store/looks.store.ts';
import type { Answer, TestApi } from './api.ts';
import { OUTCOMES } from './operation-file.ts';
import { attempted, move, secretOf, type Register } from './register.ts';

export const OPERATOR = 'acct_a.operator';
export const SECOND = 'acct_a.operator_2';
/** Belongs to the agent's owner. */
export const COLLEAGUE = 'acct_a.colleague';
/** Another person of the operator's owner. */
export const TEAMMATE = 'acct_a.teammate';
export const ADMIN = 'acct_a.admin';

export async function addOperators({ pool }: Register): Promise<void> {
  const owners = {
    [SECOND]: `owner-of-${SECOND}`,
    [COLLEAGUE]: 'owner-of-acct_a.agent',
    [TEAMMATE]: `owner-of-${OPERATOR}`,
  };
  await addPrincipals(
    pool,
    Object.entries(owners).map(([principalId, owner]) => ({
      principalId,
      accountId: 'acct_a',
      owner,
      roles: ['operator'],
      grants: [],
      keyId: `${principalId}.key`,
      secret: secretOf(principalId),
    })),
  );
}

interface LostWishes {
  /** The policy asked for approval before it was sent. */
  readonly wasHeld?: boolean;
  readonly status?: 'UNKNOWN' | 'RECONCILING' | 'NEEDS_REVIEW';
  readonly amount?: string;
  readonly accountId?: string;
  readonly invoice?: string;
  /** How long ago it was sent; an hour unless told otherwise. */
  readonly sentMsAgo?: number;
}

/** A payment whose answer was lost. */
export async function lostPayment(register: Register, wishes: LostWishes = {}): Promise<string> {
  const { status = 'UNKNOWN', amount = '10.00', sentMsAgo = 3_600_000, ...rest } = wishes;
  const { wasHeld = false, ...claim } = rest;
  const { id } = await attempted(register, [OUTCOMES.unknown], claim);
  await register.rows('update operations set command = command || $2 where operation_id = $1', [
    id,
    { amount },
  ]);
  if (wasHeld) {
    await register.rows(
      `update operations set policy_decision = policy_decision || '{"verdict": "require_approval"}'
       where operation_id = $1`,
      [id],
    );
  }
  await register.rows(
    `update attempts set started_at = started_at - $2 * interval '1 millisecond' where operation_id = $1`,
    [id, sentMsAgo],
  );
  if (status === 'RECONCILING') await openReconciliation(register.pool, id);
  if (status === 'NEEDS_REVIEW') {
    await move(register, id, { to: 'NEEDS_REVIEW', reviewReason: 'absence_not_proven' });
  }
  return id;
}

const ABSENT: LookupAnswer = { status: 'absent', evidence: {} };
export const UNAVAILABLE: LookupAnswer = { status: 'unavailable', evidence: {} };
export const foundAs = (
  state: 'done' | 'pending' | 'failed',
  match: 'matching' | 'contrary' | 'ambiguous' = 'matching',
): LookupAnswer => ({
  status: 'found',
  match,
  state,
  references: ['pay_1'],
  result: { payment_id: 'pay_1', payment_state: 'captured' },
  evidence: {},
});

/** Writes a look down that decides nothing by itself. */
export async function looked(
  { pool }: Register,
  operationId: string,
  answer: LookupAnswer = ABSENT,
): Promise<void> {
  await recordLook(pool, operationId, answer, () => ({ next: 'look', inMs: 1_000 }));
}

/** POSTs to an operation's action as an operator. */
export function act(
  api: TestApi,
  operationId: string,
  action: string,
  body?: unknown,
  as = OPERATOR,
): Promise<Answer> {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' };
  return api.call('POST', `/operator/operations/${encodeURIComponent(operationId)}/${action}`, {
    as,
    headers,
    ...(body === undefined ? {} : { body }),
  });
}

export const EVIDENCE = 'Statement of 2 May, line 14, seen by Ada.';
export const YES = { outcome: 'succeeded', evidence: EVIDENCE };
export const NO = { outcome: 'failed', evidence: EVIDENCE };

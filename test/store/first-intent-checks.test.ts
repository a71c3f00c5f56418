// What is asked again inside the transaction of the first intent: policy, approvers' rights, and how the target stands.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PolicyVerdict } from '../../src/domain/policy.ts';
import { expireApprovalIfDue } from '../../src/store/approvals.store.ts';
import { showPreconditions } from '../../src/store/approval-rounds.store.ts';
import type { FirstIntentReading } from '../../src/store/first-intent.store.ts';
import {
  addApprovers,
  APPROVER,
  approvalNow,
  decide,
  held,
  HOUR_MS,
  SECOND,
  type Held,
} from '../support/approvers.ts';
import { DESK, UNCHANGED } from '../support/desk.ts';
import { begin, claimed, openRegister, stored, type Register } from '../support/register.ts';

let register: Register;
beforeAll(async () => {
  register = await openRegister();
  await addApprovers(register);
});
afterAll(() => register.close());

const because = { rules: ['new'], reasons: ['a new rule'], policyVersion: 'f'.repeat(64) };
const DENY: PolicyVerdict = { ...because, verdict: 'deny' };
const ALLOW: PolicyVerdict = { ...because, verdict: 'allow' };
const ASK_TWO: PolicyVerdict = {
  ...because,
  verdict: 'require_approval',
  requirement: {
    reasons: because.reasons,
    policyVersion: because.policyVersion,
    quorum: 2,
    approvers: null,
    ownRequests: false,
    ttlMs: 2 * HOUR_MS,
  },
};
const refundable = (left: string, unmet: string | null = null) =>
  ({ status: 'read', values: { refundable: left }, unmet, evidence: {} }) as const;
const UNREADABLE = { status: 'unavailable', evidence: {} } as const;

/** Tries the first intent with what was read for it. */
function tries({ id }: Pick<Held, 'id'>, found: Partial<FirstIntentReading> = {}) {
  const unchanged = UNCHANGED.reading as FirstIntentReading;
  const reading = { ...unchanged, approvalId: `apr_${randomUUID()}`, ...found };
  return begin(register, id, 'dispatch', { desk: DESK.verifier, reading });
}

async function approved(shown?: string): Promise<Held> {
  const one = await held(register);
  if (shown) await showPreconditions(register.pool, one.id, { refundable: shown });
  await decide(register, one);
  return one;
}

/** The approval that replaced the one of `one`. */
async function nextOf({ id, fingerprint }: Held): Promise<Held> {
  const { approval } = await stored(register, id);
  return { id, fingerprint, approvalId: approval?.approvalId ?? '' };
}

async function expectAskedAnew(one: Held, difference: object) {
  const { operation, attempts } = await stored(register, one.id);
  expect(attempts).toEqual([]);
  expect(operation).toMatchObject({
    status: 'AWAITING_APPROVAL',
    plan: { awaits_approval: true },
  });
  const next = await nextOf(one);
  expect(next.approvalId).not.toBe(one.approvalId);
  expect(await approvalNow(register, next)).toMatchObject({ status: 'pending', difference });
  return next;
}

const auditOf = async ({ id }: Pick<Held, 'id'>) =>
  (
    await register.rows(
      `select type, detail ->> 'decision' as decision, detail ->> 'changed' as changed
       from audit_events where operation_id = $1 order by event_id`,
      [id],
    )
  ).map(({ type, decision, changed }) => [type, decision, changed].filter(Boolean).join(' '));

describe('a policy that changed before the first intent', () => {
  it('and denies now ends the operation as REJECTED, approved or not', async () => {
    const one = await approved();
    const other = await claimed(register);
    for (const { id } of [one, other]) {
      expect(await tries({ id }, { verdict: DENY })).toBe('ended');
      const { operation, attempts } = await stored(register, id);
      expect(attempts).toEqual([]);
      expect(operation).toMatchObject({ status: 'REJECTED', error: { code: 'policy_denied' } });
    }
  });

  it('and asks for people now has them asked, and sends once they agreed', async () => {
    const { id, operation } = await claimed(register);
    const before: Held = { id, fingerprint: operation.fingerprint, approvalId: '' };
    expect(await tries(before, { verdict: ASK_TWO })).toBe('unapproved');
    const policy = { version: because.policyVersion, reasons: because.reasons };
    const next = await expectAskedAnew(before, { policy });
    expect(await approvalNow(register, next)).toMatchObject({ quorum: 2, round: 1 });
    expect((await stored(register, id)).operation.policyDecision).toMatchObject({
      verdict: 'require_approval',
    });
    await decide(register, next);
    expect(await tries(before)).toBe('unapproved');
    await decide(register, next, { by: SECOND });
    expect(await tries(before)).toMatchObject({ operation: { status: 'IN_PROGRESS' } });
  });

  it('and asks for more people makes the approval void; what was said about it counts no more', async () => {
    const one = await approved();
    expect(await tries(one, { verdict: ASK_TWO })).toBe('unapproved');
    const next = await expectAskedAnew(one, { policy: { version: because.policyVersion } });
    expect(await approvalNow(register, one)).toMatchObject({ status: 'void', consumedAt: null });
    expect(await approvalNow(register, next)).toMatchObject({ quorum: 2, round: 2 });
    expect(await decide(register, one, { by: SECOND })).toMatchObject({
      refusal: { code: 'wrong_state' },
    });
    expect(await auditOf(one)).toEqual([
      'requested',
      'claimed',
      'approval_requested',
      'approval_decided approved',
      'approval_decided void ["policy"]',
      'approval_requested',
      'refused',
    ]);
  });

  it('asks for more than people were asked for, where somebody had made the terms laxer before they agreed', async () => {
    const one = await held(register, { quorum: 2 });
    await register.rows('update approvals set quorum = 1 where approval_id = $1', [one.approvalId]);
    await decide(register, one);
    expect(await approvalNow(register, one)).toMatchObject({ status: 'approved' });
    expect(await tries(one, { verdict: ASK_TWO })).toBe('unapproved');
    const next = await expectAskedAnew(one, { policy: { version: because.policyVersion } });
    expect(await approvalNow(register, next)).toMatchObject({ quorum: 2 });
  });

  it('and allows it now sends nothing that still waits for people', async () => {
    const one = await held(register);
    expect(await tries(one, { verdict: ALLOW })).toBe('unapproved');
    const { operation, attempts } = await stored(register, one.id);
    expect({ status: operation.status, attempts }).toEqual({
      status: 'AWAITING_APPROVAL',
      attempts: [],
    });
  });

  it('and says as much or less voids nothing', async () => {
    const one = await approved();
    expect(await tries(one, { verdict: ALLOW })).toMatchObject({
      operation: { status: 'IN_PROGRESS' },
    });
  });
});

describe('an approver who lost the right before the first intent', () => {
  it.each([
    ['whose key was revoked', `update api_keys set revoked_at = now() where principal_id = $1`],
    ['whose key has expired', `update api_keys set expires_at = now() where principal_id = $1`],
    ['who was disabled', `update principals set disabled_at = now() where principal_id = $1`],
    [
      'who is no approver any more',
      `update principals set roles = '{auditor}' where principal_id = $1`,
    ],
    [
      'who is of another owner now',
      `update principals set owner = 'somebody' where principal_id = $1`,
    ],
  ])('%s makes the approval void, and another person is asked', async (_, lose) => {
    const one = await held(register);
    await decide(register, one, { by: SECOND });
    await register.rows(lose, [SECOND]);
    try {
      expect(await tries(one)).toBe('unapproved');
    } finally {
      await register.rows(
        `update principals set disabled_at = null, roles = '{approver}', owner = $2 where principal_id = $1`,
        [SECOND, `owner-of-${SECOND}`],
      );
      await register.rows(
        `update api_keys set revoked_at = null, expires_at = null where principal_id = $1`,
        [SECOND],
      );
    }
    const next = await expectAskedAnew(one, { approvers_gone: [SECOND] });
    await decide(register, next, { by: APPROVER });
    expect(await tries(one)).toMatchObject({ operation: { status: 'IN_PROGRESS' } });
  });
});

describe('a target that changed before the first intent', () => {
  it('makes the approval void; the next card shows what it was and what it is', async () => {
    const one = await approved('10.00 USD');
    expect(await tries(one, { preconditions: refundable('6.00 USD') })).toBe('unapproved');
    const next = await expectAskedAnew(one, {
      preconditions: [{ name: 'refundable', shown: '10.00 USD', now: '6.00 USD' }],
    });
    expect(await approvalNow(register, next)).toMatchObject({
      preconditions: { refundable: '6.00 USD' },
      preconditionsReadAt: expect.any(String),
      quorum: 1,
    });
    await decide(register, next);
    expect(await tries(one, { preconditions: refundable('6.00 USD') })).toMatchObject({
      operation: { status: 'IN_PROGRESS' },
    });
  });

  it('again after people were asked anew three times ends the operation as EXPIRED', async () => {
    const one = await approved('4');
    let asked = one;
    for (const left of ['3', '2', '1']) {
      expect(await tries(one, { preconditions: refundable(left) })).toBe('unapproved');
      asked = await nextOf(one);
      await decide(register, asked);
    }
    expect(await tries(one, { preconditions: refundable('0') })).toBe('ended');
    const { operation, attempts } = await stored(register, one.id);
    expect({ status: operation.status, attempts }).toEqual({ status: 'EXPIRED', attempts: [] });
    expect(await approvalNow(register, asked)).toMatchObject({ status: 'void', round: 4 });
    expect(JSON.parse(operation.responseBody ?? '')).toMatchObject({
      approval: { approval_id: asked.approvalId, status: 'void' },
    });
  });

  it('is asked about for as long as the first offer was made for', async () => {
    const one = await approved('10');
    await tries(one, { preconditions: refundable('6') });
    const leftMs = await expireApprovalIfDue(register.pool, one.id);
    expect(leftMs).toBeGreaterThan(HOUR_MS - 60_000);
    expect(leftMs).toBeLessThanOrEqual(HOUR_MS);
  });

  it('and no longer allows the operation ends one that nobody had to approve as FAILED', async () => {
    const { id } = await claimed(register);
    const preconditions = refundable('6.00 USD', 'Only 6.00 USD can be refunded.');
    expect(await tries({ id }, { preconditions })).toBe('ended');
    const { operation, attempts } = await stored(register, id);
    expect(attempts).toEqual([]);
    expect(operation).toMatchObject({
      status: 'FAILED',
      error: { code: 'precondition_failed', message: 'Only 6.00 USD can be refunded.' },
    });
  });

  it('is not put on a card that somebody has agreed to', async () => {
    const one = await approved();
    await showPreconditions(register.pool, one.id, { refundable: '10' });
    expect((await approvalNow(register, one)).preconditions).toBeNull();
    expect(await tries(one)).toMatchObject({ operation: { status: 'IN_PROGRESS' } });
  });

  it('and was put on the card by another hand than the worker’s voids what was signed', async () => {
    const one = await approved('10');
    await register.rows(
      `update approvals set preconditions = '{"refundable": "6"}' where approval_id = $1`,
      [one.approvalId],
    );
    expect(await tries(one, { preconditions: refundable('6') })).toBe('unapproved');
    expect((await stored(register, one.id)).attempts).toEqual([]);
  });
});

describe('a target that can not be read before the first intent', () => {
  it('lets nothing be sent and changes nothing', async () => {
    const one = await approved('10');
    const { id } = await claimed(register);
    for (const each of [one, { id }]) {
      const before = (await stored(register, each.id)).operation;
      expect(await tries(each, { preconditions: UNREADABLE })).toBe('unreadable');
      expect((await stored(register, each.id)).operation).toEqual(before);
    }
  });

  it('at the last try ends what nobody had to approve as FAILED, and lets an approval stand', async () => {
    const one = await approved('10');
    const { id } = await claimed(register);
    const last = { preconditions: UNREADABLE, lastTry: true };
    expect(await tries({ id }, last)).toBe('ended');
    expect((await stored(register, id)).operation).toMatchObject({
      status: 'FAILED',
      error: { code: 'provider_unavailable' },
    });
    expect(await tries(one, last)).toBe('unreadable');
    expect(await approvalNow(register, one)).toMatchObject({ status: 'approved' });
  });

  it('is read again where the reading is too old', async () => {
    const { id } = await claimed(register);
    const old = { preconditions: refundable('10'), isFresh: () => false };
    expect(await tries({ id }, old)).toBeUndefined();
    expect((await stored(register, id)).attempts).toEqual([]);
  });
});

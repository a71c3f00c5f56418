// Decisions of people against the real register: who may, what is refused, and that of two at once one is first.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { checkDecision } from '../../src/domain/approval-decision.ts';
import { cancelBeforeIntent } from '../../src/store/cancellations.store.ts';
import { signedDecisions } from '../../src/store/approval-list.store.ts';
import { reviewChangedCommand } from '../../src/store/reviews.store.ts';
import {
  addApprovers,
  APPROVER,
  approvalNow,
  COLLEAGUE,
  decide,
  held,
  HOUR_MS,
  SECOND,
  signedBy,
  TEAMMATE,
  type Held,
} from '../support/approvers.ts';
import { DESK } from '../support/desk.ts';
import { auditTypes, openRegister, stored, traceOf, type Register } from '../support/register.ts';

let register: Register;
beforeAll(async () => {
  register = await openRegister();
  await addApprovers(register);
});
afterEach(() => register.shiftClock(0));
afterAll(() => register.close());

const statusOf = async ({ id }: Held) => (await stored(register, id)).operation.status;
const decisionsOf = async ({ id }: Held) =>
  register.rows(
    `select principal_id as by, detail ->> 'decision' as decision from audit_events
     where operation_id = $1 and type = 'approval_decided' order by event_id`,
    [id],
  );
const refusalsOf = (one: Held) =>
  register.rows(
    `select account_id, operation_id, principal_id, route, detail ->> 'code' as code
     from audit_events where type = 'refused' and detail ->> 'approval_id' = $1 order by event_id`,
    [one.approvalId],
  );
const messagesOf = ({ id }: Held) =>
  register.count(
    `select count(*) from outbox_messages where operation_id = $1 and type = 'decide'`,
    [id],
  );

async function traceWithoutRefusals({ id }: Held) {
  const trace = (await traceOf(register, id)) as Record<string, { row: { type?: string } }[]>;
  return {
    ...trace,
    audit_events: trace['audit_events']?.filter(({ row }) => row.type !== 'refused'),
  };
}

/** Expects a refusal with this code that is audited, and nothing else that changed. */
async function expectRefused(one: Held, said: Parameters<typeof decide>[2], code: string) {
  const before = await traceWithoutRefusals(one);
  const earlier = (await refusalsOf(one)).length;
  expect(await decide(register, one, said)).toMatchObject({ status: 'refused', refusal: { code } });
  const refusals = await refusalsOf(one);
  expect(refusals.length - earlier).toBe(1);
  expect(refusals.at(-1)).toEqual({
    account_id: 'acct_a',
    operation_id: one.id,
    principal_id: said?.by ?? APPROVER,
    route: '/approvals/{id}/approve',
    code,
  });
  expect(await traceWithoutRefusals(one)).toEqual(before);
}

describe('an approval', () => {
  it('changes the approval and nothing of the operation, and the engine is to be told', async () => {
    const one = await held(register);
    const before = (await stored(register, one.id)).operation;
    expect(await decide(register, one, { comment: 'seen' })).toMatchObject({ status: 'decided' });
    expect((await stored(register, one.id)).operation).toEqual(before);
    expect(await approvalNow(register, one)).toMatchObject({
      status: 'approved',
      votes: [{ principalId: APPROVER, decision: 'approved', comment: 'seen' }],
    });
    expect(await messagesOf(one)).toBe(1);
    expect(await decisionsOf(one)).toEqual([{ by: APPROVER, decision: 'approved' }]);
  });

  it('is void once the operation was canceled, in the row and in the answer', async () => {
    const one = await held(register);
    await decide(register, one);
    await cancelBeforeIntent(register.pool, one.id);
    expect((await approvalNow(register, one)).status).toBe('void');
    const { operation } = await stored(register, one.id);
    expect(JSON.parse(operation.responseBody ?? '')).toMatchObject({
      status: 'CANCELED',
      approval: { status: 'void' },
    });
  });

  it('is stored as the desk signed it, and is what the engine is told', async () => {
    const one = await held(register);
    await decide(register, one);
    const approval = await approvalNow(register, one);
    const { operation } = await stored(register, one.id);
    const signed = signedBy(approval);
    expect(checkDecision(signed, { operation, approval }, DESK.verifier)).toEqual(signed);
    expect(signed).toMatchObject({
      operation_id: one.id,
      decision: 'approved',
      approver: { principal_id: APPROVER, owner: `owner-of-${APPROVER}` },
      expires_at: approval.expiresAt,
    });
    expect(await signedDecisions(register.pool, one.id)).toEqual([signed]);
  });

  it('leaves no comment in the audit', async () => {
    const one = await held(register);
    await decide(register, one, { comment: 'planted words' });
    const audit = await register.rows('select * from audit_events where operation_id = $1', [
      one.id,
    ]);
    expect(JSON.stringify(audit)).not.toContain('planted');
  });

  it('that comes again from the same person is recorded once', async () => {
    const one = await held(register);
    await decide(register, one);
    const before = await traceOf(register, one.id);
    expect(await decide(register, one)).toEqual({ status: 'recorded' });
    expect(await traceOf(register, one.id)).toEqual(before);
    expect(await messagesOf(one)).toBe(1);
  });

  it('is taken once of five at the same moment', async () => {
    const one = await held(register);
    const results = await Promise.all(Array.from({ length: 5 }, () => decide(register, one)));
    const statuses = results.map(({ status }) => status).toSorted();
    expect(statuses).toEqual(['decided', 'recorded', 'recorded', 'recorded', 'recorded']);
    expect(await decisionsOf(one)).toEqual([{ by: APPROVER, decision: 'approved' }]);
  });
});

describe('a rejection', () => {
  it('ends the operation as REJECTED in the same transaction, by that person', async () => {
    const one = await held(register);
    expect(await decide(register, one, { decision: 'rejected' })).toMatchObject({
      status: 'decided',
    });
    const { operation } = await stored(register, one.id);
    expect(operation).toMatchObject({ status: 'REJECTED', error: { code: 'approval_rejected' } });
    expect(JSON.parse(operation.responseBody ?? '')).toMatchObject({
      approval: { status: 'rejected' },
    });
    expect((await auditTypes(register, one.id)).slice(-2)).toEqual([
      'approval_decided',
      'transition AWAITING_APPROVAL>REJECTED',
    ]);
    expect(await decisionsOf(one)).toEqual([{ by: APPROVER, decision: 'rejected' }]);
    expect(await decide(register, one, { decision: 'rejected' })).toEqual({ status: 'recorded' });
  });

  it('by one is enough, whatever the quorum and who has agreed', async () => {
    const one = await held(register, { quorum: 3 });
    await decide(register, one);
    await decide(register, one, { by: SECOND, decision: 'rejected' });
    expect(await statusOf(one)).toBe('REJECTED');
  });
});

describe('a quorum of two', () => {
  it('waits for an approval of another owner', async () => {
    const one = await held(register, { quorum: 2 });
    await decide(register, one);
    expect(await approvalNow(register, one)).toMatchObject({ status: 'pending' });
    await decide(register, one, { by: SECOND });
    expect(await approvalNow(register, one)).toMatchObject({ status: 'approved' });
    expect(await decisionsOf(one)).toEqual([
      { by: APPROVER, decision: 'vote' },
      { by: SECOND, decision: 'approved' },
    ]);
    expect(await signedDecisions(register.pool, one.id)).toHaveLength(2);
  });

  it('is not made by one person twice, nor by two of one owner', async () => {
    const one = await held(register, { quorum: 2 });
    await decide(register, one);
    expect(await decide(register, one)).toEqual({ status: 'recorded' });
    await expectRefused(one, { by: TEAMMATE }, 'second_person_required');
    expect(await approvalNow(register, one)).toMatchObject({ status: 'pending' });
  });

  it('that comes at the same moment is complete', async () => {
    const one = await held(register, { quorum: 2 });
    await Promise.all([decide(register, one), decide(register, one, { by: SECOND })]);
    expect(await approvalNow(register, one)).toMatchObject({ status: 'approved' });
    expect((await decisionsOf(one)).map(({ decision }) => decision)).toEqual(['vote', 'approved']);
  });

  it('may be stopped by who has agreed and thinks better of it', async () => {
    const one = await held(register, { quorum: 2 });
    await decide(register, one);
    await decide(register, one, { decision: 'rejected' });
    expect(await statusOf(one)).toBe('REJECTED');
    expect((await approvalNow(register, one)).votes).toMatchObject([{ decision: 'rejected' }]);
  });
});

describe('a decision that is refused', () => {
  it("by the submitter's own owner", async () => {
    await expectRefused(await held(register), { by: COLLEAGUE }, 'own_request');
  });

  it('is not refused where the policy allows own requests, and that stands in the audit', async () => {
    const one = await held(register, { own_requests: true });
    expect(await decide(register, one, { by: COLLEAGUE })).toMatchObject({ status: 'decided' });
    const [event] = await register.rows(
      `select detail -> 'own_request' as own from audit_events
       where operation_id = $1 and type = 'approval_decided'`,
      [one.id],
    );
    expect(event).toEqual({ own: true });
  });

  it('of whom the policy does not name', async () => {
    const approvers = { principals: [SECOND], owners: [] };
    const one = await held(register, { approvers });
    await expectRefused(one, {}, 'forbidden');
    expect(await decide(register, one, { by: SECOND })).toMatchObject({ status: 'decided' });
  });

  it('about other content', async () => {
    const fingerprint = 'cd'.repeat(32);
    await expectRefused(await held(register), { fingerprint }, 'approval_fingerprint_mismatch');
  });

  it('after another decision', async () => {
    const one = await held(register);
    await decide(register, one);
    await expectRefused(one, { decision: 'rejected' }, 'approval_decided');
    await expectRefused(one, { by: SECOND }, 'approval_decided');
    expect(await statusOf(one)).toBe('AWAITING_APPROVAL');
  });

  it('about what was canceled, or is with a person', async () => {
    const canceled = await held(register);
    await cancelBeforeIntent(register.pool, canceled.id);
    await expectRefused(canceled, {}, 'wrong_state');
    const reviewed = await held(register);
    await reviewChangedCommand(register.pool, reviewed.id);
    for (const decision of ['approved', 'rejected'] as const) {
      await expectRefused(reviewed, { decision }, 'wrong_state');
    }
  });

  it.each(['approved', 'rejected'] as const)(
    'because it comes late ends the operation as EXPIRED (%s)',
    async (decision) => {
      const one = await held(register);
      await register.shiftClock(HOUR_MS);
      expect(await decide(register, one, { decision })).toMatchObject({
        status: 'refused',
        refusal: { code: 'approval_expired' },
      });
      expect(await statusOf(one)).toBe('EXPIRED');
      expect(await approvalNow(register, one)).toMatchObject({ status: 'expired', votes: [] });
      expect((await auditTypes(register, one.id)).slice(-3)).toEqual([
        'approval_decided',
        'transition AWAITING_APPROVAL>EXPIRED',
        'refused',
      ]);
      await expectRefused(one, { decision }, 'approval_expired');
    },
  );

  it('of another account, or about what never was, leaves a trace in the own account only', async () => {
    const one = await held(register);
    const before = await traceOf(register, one.id);
    const by = 'acct_b.approver';
    expect(await decide(register, one, { by })).toEqual({ status: 'not_found' });
    const never = { approvalId: 'apr_never', fingerprint: one.fingerprint };
    expect(await decide(register, never, { by })).toEqual({ status: 'not_found' });
    expect(await traceOf(register, one.id)).toEqual(before);
    expect(await refusalsOf(one)).toEqual([
      {
        account_id: 'acct_b',
        operation_id: null,
        principal_id: by,
        route: '/approvals/{id}/approve',
        code: 'not_found',
      },
    ]);
  });
});

describe('approve and reject at once', () => {
  it('have one winner each of 50 times, and the audit has that one', async () => {
    for (let round = 0; round < 50; round++) {
      const one = await held(register);
      const results = await Promise.all([
        decide(register, one, { decision: 'approved' }),
        decide(register, one, { decision: 'rejected' }),
      ]);
      const won = results.map(({ status }) => status === 'decided');
      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await statusOf(one)).toBe(won[0] ? 'AWAITING_APPROVAL' : 'REJECTED');
      const decision = won[0] ? 'approved' : 'rejected';
      expect(await decisionsOf(one)).toEqual([{ by: APPROVER, decision }]);
    }
  });

  it('and a cancellation too: one of them', async () => {
    for (let round = 0; round < 10; round++) {
      const one = await held(register);
      const [result] = await Promise.all([
        decide(register, one, { decision: 'rejected' }),
        cancelBeforeIntent(register.pool, one.id),
      ]);
      const rejected = result.status === 'decided';
      expect(await statusOf(one)).toBe(rejected ? 'REJECTED' : 'CANCELED');
    }
  });
});

describe('a card whose command was changed in the register', () => {
  it('can not be agreed to: it shows what nobody has claimed', async () => {
    const one = await held(register);
    await register.rows(
      `update operations set command = command || '{"amount": "9000.00"}' where operation_id = $1`,
      [one.id],
    );
    await expectRefused(one, {}, 'approval_fingerprint_mismatch');
  });
});

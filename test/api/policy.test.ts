// The policy at the door: what it denies, holds and marks, and what of that is kept.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Policy } from '../../src/domain/policy.ts';
import { newKey, paymentBody, startTestApi, work, type TestApi } from '../support/api.ts';
import { policyOf, SHIPPED_POLICY } from '../support/policy.ts';
import { auditTypes, openRegister, type Register } from '../support/register.ts';

let register: Register;
let api: TestApi;
let inForce: Policy;
beforeAll(async () => {
  register = await openRegister();
  await register.rows(
    `insert into grants (principal_id, kind) select 'acct_a.agent', unnest(array['ticket', 'refund'])`,
  );
  api = await startTestApi(register, { policy: () => inForce });
});
beforeEach(() => {
  inForce = SHIPPED_POLICY;
});
afterAll(async () => {
  await api.stop();
  await register.close();
});

const ALLOW_ALL = '- { name: all, when: {}, verdict: allow }';
const withRule = (when: string, verdict: string) =>
  policyOf(`${ALLOW_ALL}\n- { name: one, when: { ${when} }, ${verdict} }`);
const DENY = 'verdict: deny, reason: not with us';
const HOLD_TWINS = withRule(
  'possible_duplicate: true',
  'verdict: require_approval, reason: an equal request came shortly before',
);

const post = (path: string, key: string, body: object) =>
  api.call('POST', `/agent/operations/${path}`, {
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body,
  });
const submitTicket = async (body: object) => (await post('ticket', newKey(), body)).body;
const preview = async (kind: string, body: object) =>
  (await post(`${kind}/preview`, newKey(), body)).body;

let tickets = 0;
/** Without source event: two equal ones are two tickets, and twins. */
const ticketBody = () => ({ project: 'OPS', title: `Ticket ${++tickets}` });

describe('what the policy denies', () => {
  it('is 403 policy_denied with the reason, and claims nothing', async () => {
    inForce = withRule('kind: payment, destination: cus_blocked', DENY);
    const before = await register.count('select count(*) from operations');
    const answer = await api.submit(newKey(), paymentBody({ customer_id: 'cus_blocked' }));
    expect(answer).toMatchObject({
      status: 403,
      body: { code: 'policy_denied', detail: 'The policy denies it: not with us.' },
    });
    expect(await register.count('select count(*) from operations')).toBe(before);
    expect((await api.submit(newKey(), paymentBody())).status).toBe(202);
  });

  it('leaves its key free', async () => {
    const [key, body] = [newKey(), paymentBody()];
    inForce = withRule('kind: payment', DENY);
    expect((await api.submit(key, body)).status).toBe(403);
    inForce = SHIPPED_POLICY;
    expect((await api.submit(key, body)).headers['operation-disposition']).toBe('created');
  });

  it('is audited with the rules and the version, and nothing of the command', async () => {
    const key = newKey();
    inForce = withRule('kind: payment', DENY);
    await api.submit(key, paymentBody({ memo: 'planted' }));
    const events = await register.rows(
      `select type, principal_id, operation_id, detail from audit_events where idempotency_key = $1`,
      [key],
    );
    expect(events).toEqual([
      {
        type: 'refused',
        principal_id: 'acct_a.agent',
        operation_id: null,
        detail: {
          code: 'policy_denied',
          policy: { policy_version: inForce.version, verdict: 'deny', rules: ['one'] },
        },
      },
    ]);
  });

  it('does not touch what exists: a known key is answered with its operation', async () => {
    const [key, body] = [newKey(), paymentBody()];
    await api.submit(key, body);
    inForce = withRule('kind: payment', DENY);
    expect((await api.submit(key, body)).headers['operation-disposition']).toBe('in_progress');
  });

  it('comes after the business key: a duplicate is called one, and a ticket is reused', async () => {
    const paid = paymentBody();
    const ticket = { ...ticketBody(), source_event_id: 'evt-policy' };
    await api.submit(newKey(), paid);
    const first = await submitTicket(ticket);
    inForce = withRule('', DENY);
    expect((await api.submit(newKey(), paid)).body['code']).toBe('business_duplicate');
    const again = await post('ticket', newKey(), ticket);
    expect(again.headers['operation-disposition']).toBe('reused');
    expect(again.body['operation_id']).toBe(first['operation_id']);
  });

  it('may be told by the operation that is acted on: a refund goes to who paid', async () => {
    const paid = await api.submit(newKey(), paymentBody({ customer_id: 'cus_7' }));
    const payment_operation_id = String(paid.body['operation_id']);
    await work(register, payment_operation_id);
    const refund = { payment_operation_id, amount: '1.00', currency: 'USD', reason: 'r' };
    inForce = withRule('kind: refund, destination: cus_7', DENY);
    expect((await post('refund', newKey(), refund)).body['code']).toBe('policy_denied');
    expect(await preview('refund', refund)).toMatchObject({ policy: { verdict: 'deny' } });
    inForce = withRule('kind: refund, destination: cus_8', DENY);
    expect((await post('refund', newKey(), refund)).status).toBe(202);
  });
});

describe('the decision about an operation', () => {
  it('is stored with it and stands in the audit of its claim', async () => {
    const { operation_id } = (await api.submit(newKey(), paymentBody())).body;
    const [row] = await register.rows(
      'select policy_version, policy_decision from operations where operation_id = $1',
      [operation_id],
    );
    expect(row).toEqual({
      policy_version: SHIPPED_POLICY.version,
      policy_decision: {
        policy_version: SHIPPED_POLICY.version,
        verdict: 'allow',
        rules: ['payments'],
        reasons: ['the amount is below the approval threshold'],
        approval: null,
      },
    });
    const [claimed] = await register.rows(
      `select detail from audit_events where operation_id = $1 and type = 'claimed'`,
      [operation_id],
    );
    expect(claimed?.['detail']).toEqual({
      policy: { policy_version: SHIPPED_POLICY.version, verdict: 'allow', rules: ['payments'] },
    });
  });

  it('that asks for people stands in the approval, term by term', async () => {
    inForce = withRule(
      'kind: payment',
      'verdict: require_approval, reason: it is ours, approval: { quorum: 2, ttl: 90s, own_requests: true, approvers: { owners: [fin, ops], principals: acct_a.approver } }',
    );
    const { operation_id, status } = (await api.submit(newKey(), paymentBody())).body;
    expect(status).toBe('AWAITING_APPROVAL');
    const [row] = await register.rows(
      `select quorum, approvers, own_requests, policy_version, reason,
         extract(epoch from expires_at - created_at)::int as seconds
       from approvals where operation_id = $1`,
      [operation_id],
    );
    expect(row).toEqual({
      quorum: 2,
      approvers: { owners: ['fin', 'ops'], principals: ['acct_a.approver'] },
      own_requests: true,
      policy_version: inForce.version,
      reason: 'it is ours',
      seconds: 90,
    });
    expect(await auditTypes(register, String(operation_id))).toEqual([
      'requested',
      'claimed',
      'approval_requested',
    ]);
  });

  it('is to ask a person where no rule speaks of it', async () => {
    inForce = policyOf('- { name: tickets, when: { kind: ticket }, verdict: allow }');
    expect((await api.submit(newKey(), paymentBody())).body).toMatchObject({
      status: 'AWAITING_APPROVAL',
      approval: { reason: 'no rule of the policy speaks of it' },
    });
  });
});

describe('an equal request under another key', () => {
  it('is marked and not held by the policy that is shipped', async () => {
    const body = ticketBody();
    const first = await submitTicket(body);
    expect(await submitTicket(body)).toMatchObject({
      status: 'PENDING',
      possible_duplicate_of: first['operation_id'],
    });
  });

  it('is held with that reason where the policy says so', async () => {
    inForce = HOLD_TWINS;
    const body = ticketBody();
    const first = await submitTicket(body);
    expect(first['status']).toBe('PENDING');
    expect(await preview('ticket', body)).toMatchObject({
      would: 'create',
      policy: { verdict: 'require_approval', rules: ['one'] },
    });
    expect(await submitTicket(body)).toMatchObject({
      status: 'AWAITING_APPROVAL',
      possible_duplicate_of: first['operation_id'],
      approval: { reason: 'an equal request came shortly before' },
    });
  });

  it('is not held where it says that it repeats one on purpose, however often', async () => {
    inForce = HOLD_TWINS;
    const body = ticketBody();
    const { operation_id } = await submitTicket(body);
    for (const _ of [1, 2]) {
      const again = await submitTicket({ ...body, intended_repeat_of: operation_id });
      expect(again['status']).toBe('PENDING');
    }
  });

  it('is none where the other certainly did nothing, or came long before', async () => {
    inForce = HOLD_TWINS;
    const [failed, old] = [ticketBody(), ticketBody()];
    const { operation_id } = await submitTicket(failed);
    await api.call('POST', `/agent/operations/${String(operation_id)}/cancel`);
    expect((await submitTicket(failed))['status']).toBe('PENDING');
    await submitTicket(old);
    await register.shiftClock(25 * 3_600_000);
    expect((await submitTicket(old))['status']).toBe('PENDING');
    await register.shiftClock(0);
  });

  it('of ten at the same moment leaves one that runs', async () => {
    inForce = HOLD_TWINS;
    const body = ticketBody();
    const all = await Promise.all(Array.from({ length: 10 }, () => submitTicket(body)));
    const states = all.map(({ status }) => status);
    expect(states.filter((state) => state === 'PENDING')).toHaveLength(1);
    expect(states.filter((state) => state === 'AWAITING_APPROVAL')).toHaveLength(9);
  });
});

describe('a ceiling', () => {
  const perAgent = policyOf(
    ALLOW_ALL,
    '- { name: day, kinds: [payment], per: agent, at_most_a_day: { USD: 15.00 }, verdict: deny, reason: enough for today }',
  );

  it('denies what would pass it, for that agent', async () => {
    inForce = perAgent;
    expect(await preview('payment', paymentBody())).toMatchObject({ policy: { verdict: 'allow' } });
    expect((await api.submit(newKey(), paymentBody())).status).toBe(202);
    expect(await preview('payment', paymentBody())).toMatchObject({
      would: 'refuse',
      policy: { verdict: 'deny', rules: ['day'] },
      conflicts: [{ code: 'policy_denied', detail: 'enough for today' }],
    });
    expect((await api.submit(newKey(), paymentBody())).body).toMatchObject({
      code: 'policy_denied',
      detail: expect.stringContaining('enough for today'),
    });
    const other = await api.submit(newKey(), paymentBody(), { as: 'acct_a.agent_2' });
    expect(other.status).toBe(202);
  });

  it('answers all submits of one key at once with one operation', async () => {
    inForce = perAgent;
    await register.shiftClock(48 * 3_600_000);
    const [key, body] = [newKey(), paymentBody()];
    const all = await Promise.all(Array.from({ length: 10 }, () => api.submit(key, body)));
    expect(new Set(all.map(({ body: { operation_id } }) => operation_id)).size).toBe(1);
    expect(all.every(({ status }) => status === 202)).toBe(true);
    await register.shiftClock(0);
  });
});

describe('the kinds', () => {
  it('are described by the policy that is in force', async () => {
    const summaryOf = async (as: string) => {
      const { body } = await api.call('GET', '/kinds', { as });
      const kinds = body['kinds'] as { kind: string; policy_summary: string }[];
      return kinds.find(({ kind }) => kind === 'payment')?.policy_summary;
    };
    inForce = withRule('account: acct_a, destination: cus_blocked', DENY);
    expect(await summaryOf('acct_a.agent')).toBe(
      'Denied where the destination is cus_blocked. Otherwise allowed.',
    );
    expect(await summaryOf('acct_b.agent')).toBe('Allowed.');
  });
});

// The approval desk over HTTP: what an approver reads, what they may say, and what is refused with which code.
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { approvalContracts } from '../../src/api/routes/approvals.contract.ts';
import { newKey, paymentBody, startTestApi, type TestApi } from '../support/api.ts';
import {
  addApprovers,
  APPROVER,
  COLLEAGUE,
  HOUR_MS,
  SECOND,
  TEAMMATE,
} from '../support/approvers.ts';
import { openRegister, stored, type Register } from '../support/register.ts';

let register: Register;
let api: TestApi;
beforeAll(async () => {
  register = await openRegister();
  await addApprovers(register);
  await register.rows(
    `insert into grants select principal_id, kind from principals, unnest(array['ticket', 'refund']) kind
     where principal_id = 'acct_a.agent'`,
  );
  api = await startTestApi(register);
});
afterEach(() => register.shiftClock(0));
afterAll(async () => {
  await api.stop();
  await register.close();
});

interface Waiting {
  readonly id: string;
  readonly approvalId: string;
  readonly fingerprint: string;
}

/** Submits a payment that waits for a person. */
async function submitHeld(members: object = {}, headers = {}): Promise<Waiting> {
  const body = paymentBody({ amount: '5000.00', ...members });
  const answer = await api.submit(newKey(), body, { headers });
  expect(answer).toMatchObject({ status: 202, body: { status: 'AWAITING_APPROVAL' } });
  const approval = answer.body['approval'] as { approval_id: string };
  return {
    id: String(answer.body['operation_id']),
    approvalId: approval.approval_id,
    fingerprint: String(answer.body['fingerprint']),
  };
}

const show = (approvalId: string, as = APPROVER) =>
  api.call('GET', `/approvals/${approvalId}`, { as });
const list = (query = '', as = APPROVER) => api.call('GET', `/approvals${query}`, { as });

interface Saying {
  readonly as?: string | null;
  readonly body?: unknown;
  readonly fingerprint?: string;
}

const say = (action: 'approve' | 'reject', one: Waiting, saying: Saying = {}) =>
  api.call('POST', `/approvals/${one.approvalId}/${action}`, {
    as: saying.as === undefined ? APPROVER : saying.as,
    headers: { 'content-type': 'application/json' },
    body: saying.body ?? { fingerprint: saying.fingerprint ?? one.fingerprint, comment: 'checked' },
  });

const statusOf = async ({ id }: Waiting) => (await stored(register, id)).operation.status;
const refusalsOf = (one: Waiting) =>
  register.rows(
    `select account_id, operation_id, principal_id, detail ->> 'code' as code from audit_events
     where type = 'refused' and detail ->> 'approval_id' = $1 order by event_id`,
    [one.approvalId],
  );

describe('a card', () => {
  it('shows what will be done, to what, by whom it was asked, and what follows', async () => {
    const run = { 'agent-run-id': 'run-7' };
    const one = await submitHeld({ memo: 'March', invoice_id: 'inv-card' }, run);
    const { status, body } = await show(one.approvalId);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      approval_id: one.approvalId,
      operation_id: one.id,
      operation_status: 'AWAITING_APPROVAL',
      fingerprint: one.fingerprint,
      status: 'pending',
      round: 1,
      quorum: 1,
      votes: [],
      card: {
        operation_id: one.id,
        kind: 'payment',
        account_id: 'acct_a',
        title: 'Take 5000.00 USD from customer cus_1 for invoice inv-card.',
        money: { amount: '5000.00', currency: 'USD' },
        target: 'customer cus_1',
        consequence: 'The customer is charged at once.',
        requester: {
          agent_id: 'acct_a.agent',
          owner: 'owner-of-acct_a.agent',
          agent_run: 'run-7',
        },
        preconditions: null,
        difference: null,
      },
      command: { amount: '5000.00', memo: 'March' },
    });
    const { parameters, reasons, reversibility } = body['card'] as Record<string, unknown>;
    expect(parameters).toContainEqual({ name: 'memo', value: 'March', marked: false });
    expect(reasons).toEqual([
      'the amount reaches the approval threshold, or its currency has none',
    ]);
    expect(reversibility).toContain('Refunds');
  });

  it('is of the form that the document shows, pending and decided', async () => {
    const one = await submitHeld();
    const schema = approvalContracts.show.answers[200].schema;
    expect(schema.safeParse((await show(one.approvalId)).body).error).toBeUndefined();
    expect(schema.safeParse((await say('approve', one)).body).error).toBeUndefined();
    const { schema: page } = approvalContracts.list.answers[200];
    expect(page.safeParse((await list('?status=approved')).body).error).toBeUndefined();
  });

  it('shows no character that is not seen, moves others, or reads as another', async () => {
    const memo = 'pay \u202Emoc.live\u200B to p\u0430ypal\nApproved by: Ada';
    const one = await submitHeld({ memo, customer_id: 'cus_\u0441\u043E' });
    await say('approve', one, {
      body: { fingerprint: one.fingerprint, comment: 'fine\u202E ok' },
    });
    const { body } = await show(one.approvalId);
    const { command, ...shown } = body;
    const text = JSON.stringify(shown, (name, value: unknown) =>
      name === 'command' ? undefined : value,
    );
    for (const raw of ['\u202E', '\u200B', '\u0430', '\u0441', '\\n']) {
      expect(text).not.toContain(raw);
    }
    for (const mark of ['⟨U+202E⟩', '⟨U+200B⟩', '⟨U+0430⟩', '⟨U+0441⟩', '⟨U+000A⟩']) {
      expect(text).toContain(mark);
    }
    expect(command).toMatchObject({ memo });
    const { parameters } = body['card'] as { parameters: { name: string; marked: boolean }[] };
    const marked = parameters.filter((value) => value.marked).map(({ name }) => name);
    expect(marked.toSorted()).toEqual(['customer_id', 'memo']);
  });

  it.each(['acct_a.agent', 'acct_a.operator', 'acct_a.auditor', 'acct_a.admin'])(
    'is read by approvers, not by %s',
    async (as) => {
      const one = await submitHeld();
      expect(await show(one.approvalId, as)).toMatchObject({ status: 403 });
      expect(await list('', as)).toMatchObject({ status: 403 });
    },
  );

  it('of another account is what an id is that never was', async () => {
    const one = await submitHeld();
    const never = await show('apr_never');
    expect(never).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect((await show(one.approvalId, 'acct_b.approver')).text).toBe(never.text);
    expect((await show('%00')).text).toBe(never.text);
  });
});

describe('the list', () => {
  const idsIn = (body: Readonly<Record<string, unknown>>) =>
    (body['approvals'] as { approval_id: string }[]).map((one) => one.approval_id);

  it('has what waits in this account, newest first, page by page', async () => {
    await register.rows(`update approvals set status = 'void' where status = 'pending'`);
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.unshift((await submitHeld()).approvalId);
    const pages: string[][] = [];
    let query = '?limit=2';
    for (;;) {
      const { body } = await list(query);
      pages.push(idsIn(body));
      const cursor = body['next_cursor'] as string | null;
      if (cursor === null) break;
      query = `?limit=2&cursor=${cursor}`;
    }
    expect(pages.map((page) => page.length)).toEqual([2, 2, 1]);
    expect(pages.flat()).toEqual(ids);
    expect(idsIn((await list('', 'acct_b.approver')).body)).toEqual([]);
  });

  it('has nothing that is decided, over, or canceled', async () => {
    await register.rows(`update approvals set status = 'void' where status = 'pending'`);
    const [decided, canceled, late] = [await submitHeld(), await submitHeld(), await submitHeld()];
    await say('reject', decided);
    await api.call('POST', `/agent/operations/${canceled.id}/cancel`);
    await register.rows('update approvals set expires_at = holdfast_now() where approval_id = $1', [
      late.approvalId,
    ]);
    expect(idsIn((await list()).body)).toEqual([]);
    expect(idsIn((await list('?status=rejected')).body)).toContain(decided.approvalId);
    expect(idsIn((await list('?status=void')).body)).toContain(canceled.approvalId);
  });

  it.each(['?status=open', '?limit=0', '?cursor=abc', '?other=1'])('refuses %s', async (query) => {
    expect(await list(query)).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } });
  });
});

describe('approving', () => {
  it('answers with the decision, tells the engine, and leaves the operation to its run', async () => {
    const one = await submitHeld();
    const answer = await say('approve', one);
    expect(answer).toMatchObject({
      status: 200,
      body: {
        status: 'approved',
        operation_status: 'AWAITING_APPROVAL',
        votes: [{ principal_id: APPROVER, decision: 'approved', comment: 'checked' }],
      },
    });
    await expect
      .poll(() => api.starter.decided)
      .toContainEqual(expect.objectContaining({ approval_id: one.approvalId, v: 1 }));
    await expect
      .poll(() =>
        register.count(
          `select count(*) from outbox_messages where operation_id = $1 and type = 'decide'`,
          [one.id],
        ),
      )
      .toBe(0);
  });

  it('five times at once and once later is one decision', async () => {
    const one = await submitHeld();
    const answers = await Promise.all(Array.from({ length: 5 }, () => say('approve', one)));
    answers.push(await say('approve', one));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    const events = await register.count(
      `select count(*) from audit_events where operation_id = $1 and type = 'approval_decided'`,
      [one.id],
    );
    expect(events).toBe(1);
  });

  it('is used by a repeat of the request; another request under the key has none', async () => {
    const key = newKey();
    const body = paymentBody({ amount: '5000.00' });
    const first = await api.submit(key, body);
    const repeat = await api.submit(key, { ...body, amount: '5000.0' });
    expect(repeat).toMatchObject({ status: 202, body: { approval: first.body['approval'] } });
    const other = await api.submit(key, { ...body, amount: '50000.00' });
    expect(other).toMatchObject({ status: 409, body: { code: 'fingerprint_mismatch' } });
  });
});

describe('rejecting', () => {
  it('ends the operation; its repeat gets the stored bytes', async () => {
    const one = await submitHeld();
    expect(await say('reject', one)).toMatchObject({
      status: 200,
      body: { status: 'rejected', operation_status: 'REJECTED' },
    });
    const read = await api.call('GET', `/agent/operations/${one.id}`);
    expect(read.body).toMatchObject({ status: 'REJECTED', error: { code: 'approval_rejected' } });
  });
});

describe('a decision is refused, and audited', () => {
  const expectRefusal = async (one: Waiting, answer: object, refusal: object) => {
    expect(answer).toMatchObject(refusal);
    const { code } = (refusal as { body: { code: string } }).body;
    const last = (await refusalsOf(one)).at(-1);
    expect(last).toMatchObject({ account_id: 'acct_a', operation_id: one.id, code });
  };

  it.each(['acct_a.agent', 'acct_a.operator', 'acct_a.auditor', 'acct_a.admin'])(
    'from %s, who is no approver: 403, whatever the body',
    async (as) => {
      const one = await submitHeld();
      const refusal = { status: 403, body: { code: 'forbidden' } };
      await expectRefusal(one, await say('approve', one, { as }), refusal);
      await expectRefusal(one, await say('reject', one, { as, body: '{' }), refusal);
      expect((await refusalsOf(one)).map((event) => event['principal_id'])).toEqual([as, as]);
      expect(await statusOf(one)).toBe('AWAITING_APPROVAL');
    },
  );

  it("from the submitter's own owner: 403 own_request", async () => {
    const one = await submitHeld();
    const answer = await say('approve', one, { as: COLLEAGUE });
    await expectRefusal(one, answer, { status: 403, body: { code: 'own_request' } });
  });

  it('for another fingerprint: 409', async () => {
    const one = await submitHeld();
    const other = await submitHeld();
    const answer = await say('approve', one, { fingerprint: other.fingerprint });
    const body = { code: 'approval_fingerprint_mismatch', approval_id: one.approvalId };
    await expectRefusal(one, answer, { status: 409, body });
    expect(answer.text).not.toContain(one.fingerprint);
  });

  it('after it was decided: 409', async () => {
    const one = await submitHeld();
    await say('approve', one);
    const answer = await say('reject', one, { as: SECOND });
    await expectRefusal(one, answer, { status: 409, body: { code: 'approval_decided' } });
    await expectRefusal(one, await say('approve', one, { as: TEAMMATE }), {
      status: 409,
      body: { code: 'approval_decided' },
    });
  });

  it('too late: 410, and the operation is EXPIRED by then', async () => {
    const one = await submitHeld();
    await register.shiftClock(25 * HOUR_MS);
    const answer = await say('approve', one);
    await expectRefusal(one, answer, { status: 410, body: { code: 'approval_expired' } });
    expect(await statusOf(one)).toBe('EXPIRED');
    const again = await say('approve', one);
    await expectRefusal(one, again, { status: 410, body: { code: 'approval_expired' } });
  });

  it('about what was canceled: 409', async () => {
    const one = await submitHeld();
    await api.call('POST', `/agent/operations/${one.id}/cancel`);
    const answer = await say('approve', one);
    await expectRefusal(one, answer, { status: 409, body: { code: 'wrong_state' } });
  });

  it('from another account: 404 like an id that never was, audited in the own account only', async () => {
    const one = await submitHeld();
    const as = 'acct_b.approver';
    const never = await say('approve', { ...one, approvalId: 'apr_never' }, { as });
    const answer = await say('approve', one, { as });
    expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(answer.text).toBe(never.text);
    expect(await refusalsOf(one)).toEqual([
      { account_id: 'acct_b', operation_id: null, principal_id: as, code: 'not_found' },
    ]);
  });

  it('from a revoked approver, or from nobody: 401', async () => {
    const one = await submitHeld();
    expect(await say('approve', one, { as: null })).toMatchObject({ status: 401 });
    const revoke = (at: string) =>
      register.rows(`update api_keys set revoked_at = ${at} where principal_id = $1`, [SECOND]);
    await revoke('holdfast_now()');
    expect(await say('approve', one, { as: SECOND })).toMatchObject({ status: 401 });
    await revoke('null');
    expect(await statusOf(one)).toBe('AWAITING_APPROVAL');
  });

  it.each([
    ['no fingerprint', { comment: 'x' }, 422],
    ['a fingerprint of another form', { fingerprint: 'AB'.repeat(32) }, 422],
    ['a member that nobody knows', { fingerprint: 'ab'.repeat(32), approved: true }, 422],
    ['a comment of null', { fingerprint: 'ab'.repeat(32), comment: null }, 400],
    ['a comment without end', { fingerprint: 'ab'.repeat(32), comment: 'x'.repeat(1_001) }, 422],
    ['half a body', '{"fingerprint": "', 400],
  ])('with %s', async (_, body, status) => {
    const one = await submitHeld();
    expect((await say('approve', one, { body })).status).toBe(status);
    expect(await statusOf(one)).toBe('AWAITING_APPROVAL');
  });

  it('by GET: 405', async () => {
    const one = await submitHeld();
    const answer = await api.call('GET', `/approvals/${one.approvalId}/approve`, { as: APPROVER });
    expect(answer).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  });
});

describe('approve and reject at once', () => {
  it('have one winner, and the other is told', async () => {
    for (let round = 0; round < 10; round++) {
      const one = await submitHeld({ invoice_id: `inv-${randomUUID()}` });
      const answers = await Promise.all([say('approve', one), say('reject', one)]);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
      const approved = answers[0].status === 200;
      expect(await statusOf(one)).toBe(approved ? 'AWAITING_APPROVAL' : 'REJECTED');
    }
  });
});

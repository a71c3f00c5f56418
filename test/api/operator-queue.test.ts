import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OPERATION_STATES } from '../../src/domain/operation-state.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import {
  act,
  ADMIN,
  addOperators,
  foundAs,
  looked,
  lostPayment,
  OPERATOR,
  SECOND,
  UNAVAILABLE,
  YES,
} from '../support/operators.ts';
import { openRegister, operationIn, stored, type Register } from '../support/register.ts';

let register: Register;
let api: TestApi;
beforeAll(async () => {
  register = await openRegister();
  await addOperators(register);
  api = await startTestApi(register);
});
beforeEach(async () => {
  await register.rows('delete from holds');
  // What other tests left is out of the queue.
  await register.rows(`update operations set status = 'PENDING' where response_body is null`);
});
afterAll(async () => {
  await api.stop();
  await register.close();
});

interface Entry {
  readonly operation_id: string;
  readonly [member: string]: unknown;
}

interface QueueBody {
  readonly operations: readonly Entry[];
  readonly total: number;
  readonly money_at_risk: readonly unknown[];
  readonly holds: readonly unknown[];
  readonly next_cursor: string | null;
}

async function queue(query = '', as = OPERATOR): Promise<QueueBody> {
  const answer = await api.call('GET', `/operator/queue${query}`, { as });
  expect(answer.status).toBe(200);
  return answer.body as unknown as QueueBody;
}

const idsOf = ({ operations }: QueueBody) => operations.map((one) => one.operation_id);

/** In creation order, a second apart. */
async function several(many: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < many; n++) {
    const id = await lostPayment(register);
    await register.rows(
      `update operations set created_at = '2026-01-01' ::timestamptz + $2 * interval '1 second'
       where operation_id = $1`,
      [id, n],
    );
    ids.push(id);
  }
  return ids;
}

describe('the queue', () => {
  it('holds UNKNOWN, RECONCILING and NEEDS_REVIEW of the account, and nothing else', async () => {
    for (const state of OPERATION_STATES) await operationIn(register, state);
    await lostPayment(register, { accountId: 'acct_b' });
    const { operations, total } = await queue();
    expect(operations.map((one) => String(one['status'])).toSorted()).toEqual([
      'NEEDS_REVIEW',
      'RECONCILING',
      'UNKNOWN',
    ]);
    expect(total).toBe(3);
    expect((await queue('', 'acct_b.operator')).total).toBe(1);
  });

  it('says what is known, what is at risk, and how long the machine goes on', async () => {
    const id = await lostPayment(register, { amount: '12.50' });
    await looked(register, id);
    await looked(register, id, UNAVAILABLE);
    const { operation } = await stored(register, id);
    const [move] = await register.rows(
      `select at from audit_events where operation_id = $1 and to_state = 'UNKNOWN'`,
      [id],
    );
    const deadlineMs = Date.parse(operation.unknownSince ?? '') + 72 * 3_600_000;
    expect((await queue()).operations).toEqual([
      {
        operation_id: id,
        kind: 'payment',
        status: 'UNKNOWN',
        since: move?.['at'],
        review_reason: null,
        error: null,
        last_error: operation.lastError,
        money_at_risk: { amount: '12.50', currency: 'USD' },
        agent_id: 'acct_a.agent',
        idempotency_key: operation.idempotencyKey,
        connection: 'sandbox_acct_a',
        provider: { adapter: 'sandbox', token: operation.providerToken, reference: null },
        attempts: 1,
        last_lookup: {
          verdict: 'unavailable',
          match: null,
          state: null,
          at: expect.stringMatching(/Z$/),
        },
        deadline: new Date(deadlineMs).toISOString(),
        held: false,
        resolved_by: null,
        awaiting_second: [],
        unknown_since: operation.unknownSince,
        created_at: operation.createdAt,
      },
    ]);
  });

  it('says why a person is needed, and that looking has ended', async () => {
    const id = await lostPayment(register, { status: 'NEEDS_REVIEW' });
    await looked(register, id, foundAs('done', 'ambiguous'));
    expect((await queue()).operations[0]).toMatchObject({
      review_reason: 'absence_not_proven',
      deadline: null,
      last_lookup: { verdict: 'found', match: 'ambiguous', state: 'done' },
    });
  });

  it('shows a first word that waits for a second person', async () => {
    const id = await lostPayment(register, { amount: '5000.00', wasHeld: true });
    await act(api, id, 'resolve', { ...YES, provider_reference: 'pay_1' });
    expect((await queue('', SECOND)).operations[0]).toMatchObject({
      awaiting_second: [
        { outcome: 'succeeded', provider_reference: 'pay_1', principal_id: OPERATOR },
      ],
    });
  });

  it('is paged from the oldest on, and every entry is seen once', async () => {
    const ids = await several(5);
    const first = await queue('?limit=2');
    const second = await queue(`?limit=2&cursor=${first.next_cursor}`);
    const third = await queue(`?limit=2&cursor=${second.next_cursor}`);
    expect([first, second, third].flatMap(idsOf)).toEqual(ids);
    expect(third.next_cursor).toBeNull();
    expect([first.total, third.total]).toEqual([5, 5]);
  });

  it('sums the money of the whole queue by currency, whatever page is shown', async () => {
    const [one, two, three, four] = await several(4);
    const set = 'update operations set command = command || $2 where operation_id = $1';
    await register.rows(set, [one, { amount: '0.10', currency: 'USD' }]);
    await register.rows(set, [two, { amount: '0.20', currency: 'USD' }]);
    await register.rows(set, [three, { amount: '500', currency: 'JPY' }]);
    const target = { amount_minor: '1234', currency: 'BHD', operation_id: 'x' };
    await register.rows(
      'update operations set plan = plan || $2, command = $3 where operation_id = $1',
      [four, { target }, { amount: 'no money', currency: 'at all' }],
    );
    expect((await queue('?limit=1')).money_at_risk).toEqual([
      { currency: 'BHD', amount: '1.234', operations: 1 },
      { currency: 'JPY', amount: '500', operations: 1 },
      { currency: 'USD', amount: '0.30', operations: 2 },
    ]);
  });

  it('counts operations that move no money, without a sum', async () => {
    const [id] = await several(1);
    await register.rows(
      `update operations set command = '{"title": "x"}' where operation_id = $1`,
      [id],
    );
    expect(await queue()).toMatchObject({
      total: 1,
      money_at_risk: [],
      operations: [{ money_at_risk: null }],
    });
  });

  it('shows the holds that apply, and what they hold', async () => {
    await several(1);
    await api.call('POST', '/operator/connections/sandbox_acct_a/pause', { as: OPERATOR });
    expect(await queue()).toMatchObject({
      operations: [{ held: true }],
      holds: [{ scope: 'account', connection: 'sandbox_acct_a', principal_id: OPERATOR }],
    });
  });

  it.each(['acct_a.agent', 'acct_a.approver', 'acct_a.auditor', ADMIN])(
    'is forbidden to %s',
    async (as) => {
      expect((await api.call('GET', '/operator/queue', { as })).status).toBe(403);
    },
  );

  it.each(['?cursor=x', '?limit=0', '?limit=101', '?status=UNKNOWN', '?limit=1&limit=2'])(
    'refuses %s',
    async (query) => {
      const answer = await api.call('GET', `/operator/queue${query}`, { as: OPERATOR });
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } });
    },
  );
});

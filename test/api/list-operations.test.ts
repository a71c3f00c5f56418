import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newKey, paymentBody, startTestApi, work, type TestApi } from '../support/api.ts';
import { openRegister, stored, type Register } from '../support/register.ts';

let register: Register;
let api: TestApi;
beforeAll(async () => {
  register = await openRegister();
  await register.rows(
    `insert into grants (principal_id, kind) select 'acct_a.agent', unnest(array['ticket', 'refund'])`,
  );
  api = await startTestApi(register);
});
afterAll(async () => {
  await api.stop();
  await register.close();
});

interface Page {
  readonly operations: readonly Record<string, unknown>[];
  readonly next_cursor: string | null;
}

async function list(query: Record<string, string> = {}, as = 'acct_a.agent'): Promise<Page> {
  const answer = await api.call(
    'GET',
    `/agent/operations?${new URLSearchParams(query).toString()}`,
    { as },
  );
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return answer.body as unknown as Page;
}
const idsOf = ({ operations }: Page): unknown[] => operations.map((one) => one['operation_id']);

async function pay(members: object = {}, key = newKey(), as = 'acct_a.agent'): Promise<string> {
  const { status, text, body } = await api.submit(key, paymentBody(members), { as });
  expect([status, text]).toEqual([202, expect.any(String)]);
  return String(body['operation_id']);
}

function ticket(key: string, members: object) {
  return api.call('POST', '/agent/operations/ticket', {
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: { project: 'OPS', title: 'T', ...members },
  });
}

async function pagesOf(
  query: Record<string, string>,
  between = async () => {},
): Promise<unknown[]> {
  const ids: unknown[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: Page = await list({ ...query, ...(cursor === '' ? {} : { cursor }) });
    ids.push(...idsOf(page));
    cursor = page.next_cursor;
    await between();
  }
  return ids;
}

describe('a list of operations', () => {
  it('goes newest first and shows each once, whatever is claimed between its pages', async () => {
    const customer_id = 'cus_pages';
    const ids: string[] = [];
    for (let n = 0; n < 7; n += 1) ids.push(await pay({ customer_id }));
    const newestFirst = ids.toReversed();
    const seen = await pagesOf({ customer_id, limit: '2' }, async () => {
      await pay({ customer_id });
    });
    expect(seen).toEqual(newestFirst);
  });

  it('shows each once where many were claimed in one millisecond', async () => {
    const customer_id = 'cus_same_time';
    const ids = await Promise.all(Array.from({ length: 9 }, () => pay({ customer_id })));
    // An index gives this order by itself; the statement has to ask for it.
    await register.rows(
      'drop index operations_by_customer, operations_by_account, operations_not_succeeded',
    );
    await register.rows(
      `update operations set created_at = '2026-01-02T03:04:05.678Z'
       where command ->> 'customer_id' = $1`,
      [customer_id],
    );
    expect(await pagesOf({ customer_id, limit: '2' })).toEqual(ids.toSorted().toReversed());
  });

  it('has no next page where the last one is exactly full', async () => {
    const customer_id = 'cus_full';
    await pay({ customer_id });
    await pay({ customer_id });
    expect((await list({ customer_id, limit: '2' })).next_cursor).toBeNull();
    expect((await list({ customer_id, limit: '1' })).next_cursor).not.toBeNull();
  });

  it('shows a settled operation with its stored bytes, an open one as it is read', async () => {
    const customer_id = 'cus_bytes';
    const open = await pay({ customer_id });
    const settled = await pay({ customer_id });
    await work(register, settled);
    const bytes = (await stored(register, settled)).operation.responseBody;
    const { text } = await api.call('GET', `/agent/operations?customer_id=${customer_id}`);
    const alone = await api.call('GET', `/agent/operations/${open}`);
    expect(text).toBe(`{"operations":[${bytes},${alone.text}],"next_cursor":null}`);
  });

  it('shows the attempts and the approval of an open operation', async () => {
    const held = await pay({ amount: '9000.00', customer_id: 'cus_held' });
    const [shown] = (await list({ customer_id: 'cus_held' })).operations;
    expect(shown).toMatchObject({ operation_id: held, approval: { status: 'pending' } });
  });

  it('is empty where nothing fits', async () => {
    expect(await list({ customer_id: 'cus_nobody' })).toEqual({
      operations: [],
      next_cursor: null,
    });
  });
});

describe('a filter', () => {
  it('takes the status', async () => {
    const customer_id = 'cus_status';
    const [open, done] = [await pay({ customer_id }), await pay({ customer_id })];
    await work(register, done);
    expect(idsOf(await list({ customer_id, status: 'SUCCEEDED' }))).toEqual([done]);
    expect(idsOf(await list({ customer_id, status: 'PENDING' }))).toEqual([open]);
    expect(idsOf(await list({ customer_id, status: 'FAILED' }))).toEqual([]);
  });

  it('takes the kind', async () => {
    const { body } = await ticket(newKey(), {});
    const tickets = idsOf(await list({ kind: 'ticket' }));
    expect(tickets).toContain(body['operation_id']);
    expect(idsOf(await list({ kind: 'payment' }))).not.toContain(body['operation_id']);
    expect(idsOf(await list({ kind: 'never_was' }))).toEqual([]);
  });

  it('takes the idempotency key, also one with characters that a query has to escape', async () => {
    const key = 'a/b?c=d&e%f+g';
    const id = await pay({}, `"${key}"`);
    expect(idsOf(await list({ idempotency_key: key }))).toEqual([id]);
    expect(idsOf(await list({ idempotency_key: newKey() }))).toEqual([]);
  });

  it('finds by an alias the operation that the alias stands for', async () => {
    const [key, alias] = [newKey(), newKey()];
    const first = await ticket(key, { source_event_id: 'evt-alias' });
    const second = await ticket(alias, { source_event_id: 'evt-alias', title: 'Other words' });
    expect(second.headers['operation-disposition']).toBe('reused');
    const id = first.body['operation_id'];
    expect(idsOf(await list({ idempotency_key: alias }))).toEqual([id]);
    expect(idsOf(await list({ idempotency_key: key }))).toEqual([id]);
  });

  it('takes a business key of one part as it is, and of any number as a JSON array', async () => {
    const id = await pay({ invoice_id: 'inv business 1' });
    expect(idsOf(await list({ business_key: 'inv business 1' }))).toEqual([id]);
    expect(idsOf(await list({ business_key: '["inv business 1"]' }))).toEqual([id]);
    expect(idsOf(await list({ business_key: '[ "inv business 1" ]' }))).toEqual([id]);
    const { body } = await ticket(newKey(), { source_event_id: 'evt-two' });
    expect(idsOf(await list({ business_key: '["OPS","evt-two"]' }))).toEqual([
      body['operation_id'],
    ]);
    expect(idsOf(await list({ business_key: 'evt-two' }))).toEqual([]);
  });

  it('finds an invoice whose number looks like JSON', async () => {
    const number = await pay({ invoice_id: '42' });
    const array = await pay({ invoice_id: '[1]' });
    const texts = await pay({ invoice_id: '["x"]' });
    expect(idsOf(await list({ business_key: '42' }))).toEqual([number]);
    expect(idsOf(await list({ business_key: '[1]' }))).toEqual([array]);
    expect(idsOf(await list({ business_key: JSON.stringify(['["x"]']) }))).toEqual([texts]);
  });

  it('takes the customer in any spelling of its name', async () => {
    const id = await pay({ customer_id: 'caf\u00e9' });
    expect(idsOf(await list({ customer_id: ' cafe\u0301 ' }))).toEqual([id]);
  });

  it('takes a time, which what it finds is later than', async () => {
    const customer_id = 'cus_time';
    const before = await pay({ customer_id });
    const after = await pay({ customer_id });
    await register.rows(
      `update operations set created_at = '2026-01-01T12:00:00.000Z' where operation_id = $1`,
      [before],
    );
    const later = async (created_after: string) =>
      idsOf(await list({ customer_id, created_after }));
    expect(await later('2026-01-01T12:00:00.000Z')).toEqual([after]);
    expect(await later('2026-01-01T14:00:00+02:00')).toEqual([after]);
    expect(await later('2026-01-01T11:59:59.999Z')).toEqual([after, before]);
    expect(await later('0001-01-01T00:00:00+14:00')).toEqual([after, before]);
    expect(await later('9999-12-31T23:59:59-14:00')).toEqual([]);
  });

  it('holds together with all others', async () => {
    const [customer_id, invoice_id] = ['cus_all', 'inv-all'];
    const id = await pay({ customer_id, invoice_id });
    await pay({ customer_id });
    const all = { customer_id, business_key: invoice_id, kind: 'payment', status: 'PENDING' };
    expect(idsOf(await list(all))).toEqual([id]);
    expect(idsOf(await list({ ...all, kind: 'ticket' }))).toEqual([]);
  });
});

describe('who lists', () => {
  it('sees the own account only', async () => {
    const customer_id = 'cus_accounts';
    const [a, b] = [
      await pay({ customer_id }),
      await pay({ customer_id }, newKey(), 'acct_b.agent'),
    ];
    expect(idsOf(await list({ customer_id }))).toEqual([a]);
    expect(idsOf(await list({ customer_id }, 'acct_b.operator'))).toEqual([b]);
  });

  it('sees the granted kinds only where it is an agent, and all of them where it is not', async () => {
    const key = newKey();
    const { body } = await ticket(key, {});
    const ids = async (as: string) => idsOf(await list({ idempotency_key: key }, as));
    expect(await ids('acct_a.agent')).toEqual([body['operation_id']]);
    expect(await ids('acct_a.agent_2')).toEqual([]);
    expect(await ids('acct_a.agent_bare')).toEqual([]);
    expect(await ids('acct_a.approver')).toEqual([body['operation_id']]);
    expect(await ids('acct_a.operator')).toEqual([body['operation_id']]);
  });

  it('is an agent, an approver or an operator', async () => {
    for (const name of ['auditor', 'admin']) {
      const { status } = await api.call('GET', '/agent/operations', { as: `acct_a.${name}` });
      expect(status).toBe(403);
    }
    expect((await api.call('GET', '/agent/operations', { as: null })).status).toBe(401);
  });
});

const cursorWith = (place: unknown): string =>
  Buffer.from(JSON.stringify(place)).toString('base64url');

describe('a list that is asked for in a wrong way', () => {
  it.each([
    ['limitt=1', 'limitt'],
    ['__proto__=1', '__proto__'],
    ['status=PENDING&status=FAILED', 'status'],
    ['status[]=PENDING', 'status[]'],
    ['status=pending', 'status'],
    ['status=', 'status'],
    ['kind=Payment', 'kind'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=01', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=', 'limit'],
    ['idempotency_key=', 'idempotency_key'],
    ['idempotency_key=%20a', 'idempotency_key'],
    ['idempotency_key=a%00', 'idempotency_key'],
    [`idempotency_key=${'k'.repeat(256)}`, 'idempotency_key'],
    ['customer_id=%00', 'customer_id'],
    ['customer_id=%20', 'customer_id'],
    ['created_after=yesterday', 'created_after'],
    ['created_after=2026-01-01', 'created_after'],
    ['created_after=2026-01-01T00:00:00', 'created_after'],
    ['created_after=2026-02-30T00:00:00Z', 'created_after'],
    ['created_after=2026-01-01T00:00:00+02:00', 'created_after'],
    ['cursor=', 'cursor'],
    ['cursor=%00', 'cursor'],
    ['cursor=e30', 'cursor'],
    ['cursor=bm90IGpzb24', 'cursor'],
    [`cursor=${'A'.repeat(1_001)}`, 'cursor'],
  ])('is refused, naming the parameter: %s', async (query, parameter) => {
    const answer = await api.call('GET', `/agent/operations?${query}`);
    expect(answer.body).toMatchObject({ status: 400, code: 'invalid_parameter', parameter });
  });

  it.each([
    [{ createdAt: '2026-01-01T00:00:00.000Z', operationId: 'op_1', more: 1 }],
    [{ createdAt: '2026-13-01T00:00:00.000Z', operationId: 'op_1' }],
    [{ createdAt: '0000-01-01T00:00:00.000Z', operationId: 'op_1' }],
    [{ createdAt: '2026-01-01T00:00:00.000Z', operationId: 'op_\u0000' }],
    [{ createdAt: 5, operationId: 'op_1' }],
    [['2026-01-01T00:00:00.000Z', 'op_1']],
    [null],
  ])('is refused with a cursor that was made up: %j', async (place) => {
    const answer = await api.call('GET', `/agent/operations?cursor=${cursorWith(place)}`);
    expect(answer.body).toMatchObject({ status: 400, parameter: 'cursor' });
  });

  it('is refused with a cursor that was changed by one character or padded', async () => {
    const customer_id = 'cus_cursor';
    await pay({ customer_id });
    await pay({ customer_id });
    const { next_cursor } = await list({ customer_id, limit: '1' });
    for (const bad of [`${next_cursor}=`, `${next_cursor}%20`, `*${next_cursor}`]) {
      const answer = await api.call('GET', `/agent/operations?cursor=${bad}`);
      expect(answer.status).toBe(400);
    }
  });

  it('is refused with another method, naming the one it has', async () => {
    const answer = await api.call('POST', '/agent/operations');
    expect([answer.status, answer.headers['allow']]).toEqual([405, 'GET']);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newKey, paymentBody, startTestApi, work, type TestApi } from '../support/api.ts';
import { openRegister, stored, type Register } from '../support/register.ts';
import { sha256Hex } from '../../src/domain/sha256.ts';
import { until } from '../support/until.ts';

let register: Register;
let api: TestApi;
beforeAll(async () => {
  register = await openRegister();
  api = await startTestApi(register);
});
afterAll(async () => {
  await api.stop();
  await register.close();
});

interface Events {
  readonly events: readonly Record<string, unknown>[];
  readonly next_cursor: string | null;
}

async function read(query: Record<string, string> = {}, as = 'acct_a.auditor'): Promise<Events> {
  const answer = await api.call('GET', `/audit/events?${new URLSearchParams(query).toString()}`, {
    as,
  });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return answer.body as unknown as Events;
}

/** Events are shown once the writers beside them have ended. */
const readOf = (operation_id: string, type: string, as = 'acct_a.auditor') =>
  until(`${type} of ${operation_id} is shown`, async () => {
    const { events } = await read({ operation_id }, as);
    return events.some((one) => one['type'] === type) && events;
  });

const idOf = (answer: { body: Readonly<Record<string, unknown>> }) =>
  String(answer.body['operation_id']);

describe('the audit of an operation', () => {
  it('tells what was asked, decided, sent and answered, in order', async () => {
    const key = newKey();
    const id = idOf(await api.submit(key, paymentBody(), { headers: { 'agent-run-id': 'run-7' } }));
    await work(register, id);
    const events = await until('all is shown', async () => {
      const all = await readOf(id, 'transition');
      return all.at(-1)?.['to'] === 'SUCCEEDED' && all;
    });
    expect(events.map((one) => one['type'])).toEqual([
      'requested',
      'claimed',
      'intent',
      'transition',
      'sent',
      'provider_answer',
      'transition',
    ]);
    expect(events[0]).toEqual({
      event_id: expect.stringMatching(/^\d+$/),
      sequence: null,
      hash: null,
      type: 'requested',
      operation_id: id,
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      principal: 'acct_a.agent',
      agent_run: 'run-7',
      route: '/agent/operations/payment',
      key,
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      response_hash: null,
      provider_reference: null,
    });
    const { operation } = await stored(register, id);
    expect(events.at(-1)).toMatchObject({
      from: 'IN_PROGRESS',
      to: 'SUCCEEDED',
      response_hash: sha256Hex(operation.responseBody ?? ''),
      provider_reference: operation.providerReference,
    });
  });

  it('shows refusals with their code', async () => {
    const key = newKey();
    const id = idOf(await api.submit(key, paymentBody()));
    expect((await api.submit(key, paymentBody({ amount: '11.00' }))).status).toBe(409);
    const refused = (await readOf(id, 'refused')).find((one) => one['type'] === 'refused');
    expect(refused).toMatchObject({ key, detail: { code: 'fingerprint_mismatch' } });
  });

  it('gives what a person decided as a member of its own', async () => {
    await register.rows(
      `insert into audit_events (account_id, type, at, route, detail)
       values ('acct_b', 'approval_decided', holdfast_now(), 'decided', $1)`,
      [{ decision: 'approved', approval_id: 'apr_1' }],
    );
    const event = await until('it is shown', async () => {
      const { events } = await read({}, 'acct_b.operator');
      return events.find((one) => one['route'] === 'decided');
    });
    expect(event).toMatchObject({ decision: 'approved', detail: { approval_id: 'apr_1' } });
  });
});

describe('reading the audit', () => {
  it('is for the auditor and the operator of an account, and shows that account only', async () => {
    const id = idOf(await api.submit(newKey(), paymentBody()));
    for (const as of ['acct_a.auditor', 'acct_a.operator']) {
      expect(await readOf(id, 'claimed', as)).toHaveLength(2);
    }
    const [foreign, never] = [
      await api.call('GET', `/audit/events?operation_id=${id}`, { as: 'acct_b.auditor' }),
      await api.call('GET', '/audit/events?operation_id=op_never', { as: 'acct_b.auditor' }),
    ];
    expect(foreign.text).toBe(never.text);
    for (const name of ['agent', 'approver', 'admin']) {
      expect((await api.call('GET', '/audit/events', { as: `acct_a.${name}` })).status).toBe(403);
    }
    expect((await api.call('GET', '/audit/events', { as: null })).status).toBe(401);
  });

  it('goes through all events of the account in pages of 100, each once', async () => {
    await register.rows(
      `insert into audit_events (account_id, type, at, route)
       select 'acct_b', 'refused', holdfast_now(), 'r' || n from generate_series(1, 250) n`,
    );
    await until('they are shown', async () => {
      const { events } = await read({}, 'acct_b.auditor');
      return events.length === 100;
    });
    const pages: Events[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Events = await read(cursor === '' ? {} : { cursor }, 'acct_b.auditor');
      pages.push(page);
      cursor = page.next_cursor;
    }
    const routes = pages.flatMap(({ events }) => events.map((one) => one['route']));
    const wanted = Array.from({ length: 250 }, (_, n) => `r${n + 1}`);
    expect(routes.filter((route) => /^r\d/.test(String(route)))).toEqual(wanted);
    expect(pages.slice(0, -1).map(({ events }) => events.length)).toEqual([100, 100]);
  });

  it.each([
    'operation=op_1',
    'operation_id=a&operation_id=b',
    'operation_id=%00',
    'cursor=e30',
    `cursor=${Buffer.from('{"xid":"99999999999999999999","eventId":"1"}').toString('base64url')}`,
    `cursor=${Buffer.from('{"xid":"1","eventId":"-1"}').toString('base64url')}`,
  ])('refuses %s', async (query) => {
    const answer = await api.call('GET', `/audit/events?${query}`, { as: 'acct_a.auditor' });
    expect(answer.body).toMatchObject({ status: 400, code: 'invalid_parameter' });
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/observability/logger.ts';
import { createApiMetrics } from '../../src/observability/metrics.ts';
import { newKey, paymentBody, startTestApi, work, type TestApi } from '../support/api.ts';
import { openRegister, secretOf, type Register } from '../support/register.ts';
import { samplesOf, valueOf } from '../support/samples.ts';
import { until } from '../support/until.ts';

const metrics = createApiMetrics();
const lines: string[] = [];
let register: Register;
let api: TestApi;
beforeAll(async () => {
  register = await openRegister();
  const logger = createLogger('api', 'trace', { write: (line) => void lines.push(line) });
  api = await startTestApi(register, { metrics, logger });
});
afterAll(async () => {
  await api.stop();
  await register.close();
});

const scrape = async () => samplesOf(await metrics.registry.metrics());

/** By how much counters grow while something happens. */
async function growth(name: string, label: string, act: () => Promise<unknown>) {
  const before = await scrape();
  await act();
  const after = await scrape();
  const values = new Set(after.filter((one) => one.name === name).map((one) => one.labels[label]));
  const grown = [...values].map((value = '') => {
    const [was = 0, is = 0] = [before, after].map((all) => valueOf(all, name, { [label]: value }));
    return [value, is - was] as const;
  });
  return Object.fromEntries(grown.filter(([, by]) => by > 0));
}

type LogLine = Readonly<Record<string, unknown>>;

/** The line of the request that did this; it is written once the answer is out. */
async function logLineOf(act: () => Promise<unknown>): Promise<LogLine> {
  const already = lines.length;
  await act();
  return until('the request is logged', () =>
    lines
      .slice(already)
      .map((line) => JSON.parse(line) as LogLine)
      .find(({ msg }) => msg === 'request answered'),
  );
}

const prevented = (act: () => Promise<unknown>) =>
  growth('holdfast_duplicates_prevented_total', 'reason', act);

describe('duplicates prevented', () => {
  it('counts no first submit', async () => {
    expect(await prevented(() => api.submit(newKey(), paymentBody()))).toEqual({});
  });

  it('counts a repeat that meets the running operation as in_progress', async () => {
    const [key, body] = [newKey(), paymentBody()];
    await api.submit(key, body);
    expect(await prevented(() => api.submit(key, body))).toEqual({ in_progress: 1 });
  });

  it('counts every repeat of a settled operation as replayed', async () => {
    const [key, body] = [newKey(), paymentBody()];
    const first = await api.submit(key, body);
    await work(register, first.body['operation_id']);
    const grown = await prevented(async () => {
      await api.submit(key, body);
      await api.submit(key, body);
    });
    expect(grown).toEqual({ replayed: 2 });
  });

  it('counts a key that comes with another request', async () => {
    const key = newKey();
    await api.submit(key, paymentBody());
    expect(await prevented(() => api.submit(key, paymentBody()))).toEqual({
      fingerprint_mismatch: 1,
    });
  });

  it('counts another key for the same business', async () => {
    const body = paymentBody();
    await api.submit(newKey(), body);
    expect(await prevented(() => api.submit(newKey(), body))).toEqual({ business_duplicate: 1 });
  });

  it('counts no refusal that has another reason', async () => {
    const grown = await prevented(async () => {
      await api.submit(newKey(), paymentBody({ amount: 'much' }));
      await api.submit(newKey(), paymentBody(), { as: 'acct_a.agent_bare' });
    });
    expect(grown).toEqual({});
  });
});

describe('submits', () => {
  it('are counted by their answer, refusals by their code', async () => {
    const grown = await growth('holdfast_submits_total', 'answer', async () => {
      await api.submit(newKey(), paymentBody());
      await api.submit(newKey(), paymentBody({ amount: 'much' }));
      await api.submit(newKey(), paymentBody(), { as: 'acct_a.agent_bare' });
    });
    expect(grown).toEqual({ created: 1, invalid_command: 1, forbidden: 1 });
  });

  it('of a kind that nobody knows make no series of their own', async () => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': newKey() };
    await api.call('POST', '/agent/operations/made_up_kind', { headers, body: paymentBody() });
    const text = await metrics.registry.metrics();
    expect(text).not.toContain('made_up_kind');
    const problems = 'holdfast_http_problems_total';
    expect(valueOf(samplesOf(text), problems, { code: 'unknown_kind' })).toBe(1);
  });
});

describe('requests', () => {
  const count = 'holdfast_http_request_duration_seconds_count';

  it('are measured by route template and status class', async () => {
    const read = { method: 'GET', route: '/agent/operations/:name' };
    const before = valueOf(await scrape(), count, { ...read, status_class: '4xx' }) ?? 0;
    await api.call('GET', `/agent/operations/op_${newKey()}`, { as: 'acct_a.operator' });
    const grown = await until('the request is measured', async () => {
      const now = valueOf(await scrape(), count, { ...read, status_class: '4xx' }) ?? 0;
      return now > before && now - before;
    });
    expect(grown).toBe(1);
  });

  it('that are held on request are told apart from slow ones', async () => {
    const headers = { prefer: 'wait=1' };
    await api.submit(newKey(), paymentBody(), { headers });
    const held = await until('the request is measured', async () =>
      valueOf(await scrape(), count, { held: 'true' }),
    );
    expect(held).toBe(1);
  });

  it('to health checks are neither measured nor logged', async () => {
    const already = lines.length;
    await api.call('GET', '/healthz');
    await api.call('GET', '/readyz');
    await logLineOf(() => api.call('GET', '/nothing/here'));
    expect(lines.slice(already)).toHaveLength(1);
    expect(await metrics.registry.metrics()).not.toMatch(/healthz|readyz/);
  });

  it('are counted by the code of their problem', async () => {
    const grown = await growth('holdfast_http_problems_total', 'code', async () => {
      await logLineOf(() => api.call('GET', '/agent/operations', { as: null }));
    });
    expect(grown).toEqual({ unauthenticated: 1 });
  });
});

describe('labels', () => {
  it('hold nothing of accounts, keys, ids or other things that a caller chose', async () => {
    const key = newKey();
    const body = paymentBody({ customer_id: 'cus_in_no_label' });
    const { body: file } = await api.submit(key, body);
    await api.call('PATCH', `/made/up/${key}?query=${key}`);
    await logLineOf(() => api.call('GET', `/agent/operations/${String(file['operation_id'])}`));
    const values = (await scrape()).flatMap(({ labels }) => Object.values(labels));
    const chosen = [key, file['operation_id'], body['invoice_id'], 'cus_in_no_label', 'acct_a'];
    for (const value of values) {
      for (const one of chosen) expect(value).not.toContain(String(one));
    }
    expect(values).not.toContain('PATCH');
  });
});

describe('the log of a request', () => {
  const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

  it('tells which operation it was about, for whom, and how it was answered', async () => {
    const key = newKey();
    const headers = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01`, 'agent-run-id': 'run-7' };
    const line = await logLineOf(() => api.submit(key, paymentBody(), { headers }));
    expect(line).toMatchObject({
      process: 'api',
      method: 'POST',
      route: '/agent/operations/:name',
      status: 202,
      duration_ms: expect.any(Number),
      disposition: 'created',
      operation_id: expect.stringMatching(/^op_/),
      idempotency_key: key,
      agent_id: 'acct_a.agent',
      agent_run: 'run-7',
      trace_id: TRACE,
      state: 'PENDING',
      kind: 'payment',
    });
  });

  it('names the operation that a refusal names, and the problem', async () => {
    const key = newKey();
    const { body: first } = await api.submit(key, paymentBody());
    const line = await logLineOf(() => api.submit(key, paymentBody()));
    expect(line).toMatchObject({
      status: 409,
      problem: 'fingerprint_mismatch',
      operation_id: first['operation_id'],
      principal_id: 'acct_a.agent',
    });
  });

  it('tells the reader of an operation apart from its agent', async () => {
    const { body: file } = await api.submit(newKey(), paymentBody());
    const path = `/agent/operations/${String(file['operation_id'])}`;
    const line = await logLineOf(() => api.call('GET', path, { as: 'acct_a.operator' }));
    expect(line).toMatchObject({ principal_id: 'acct_a.operator', agent_id: 'acct_a.agent' });
  });

  it('drops a trace that is none', async () => {
    const headers = { traceparent: 'password=hunter2' };
    const line = await logLineOf(() => api.submit(newKey(), paymentBody(), { headers }));
    expect(line).not.toHaveProperty('trace_id');
    expect(lines.join('')).not.toContain('hunter2');
  });
});

describe('the log', () => {
  it('holds no credential, no payload and nothing about a customer, whatever is sent', async () => {
    const planted = {
      customer_id: 'cus_planted_4711',
      invoice_id: 'inv_planted_4712',
      memo: 'planted memo for jane@example.org',
      amount: '77.13',
    };
    const key = newKey();
    const body = paymentBody(planted);
    const { body: file } = await api.submit(key, body);
    await api.submit(key, body);
    await api.submit(key, { ...body, memo: 'planted other memo' });
    await api.submit(newKey(), body);
    await api.submit(newKey(), { ...body, planted_member: 'planted' });
    await api.submit(newKey(), '{"memo": "planted and not closed');
    await work(register, file['operation_id']);
    await api.submit(key, body);
    await api.call('GET', `/agent/operations/${String(file['operation_id'])}`);
    await api.call('GET', '/agent/operations?customer_id=cus_planted_4711');
    await api.call('POST', '/agent/operations/payment?planted=1', { as: 'nobody_planted' });
    await api.call('GET', '/planted/path', { headers: { cookie: 'planted=1' } });
    await until('all are logged', () => lines.some((line) => line.includes('"route":"-"')));
    const log = lines.join('');
    expect(log).not.toMatch(/planted|jane@example|amount/);
    expect(log).not.toContain(secretOf('acct_a.agent'));
    expect(log).not.toMatch(/bearer|authorization/i);
  });

  it('keeps the row out of what it tells about a database error', async () => {
    const already = lines.length;
    await register.pool.query(
      `alter table operations add constraint no_planted
       check (command ->> 'memo' is distinct from 'planted row')`,
    );
    const answer = await api.submit(newKey(), paymentBody({ memo: 'planted row' }));
    expect(answer.status).toBe(500);
    const told = await until('the error is logged', () =>
      lines.slice(already).find((line) => line.includes('request failed')),
    );
    expect(JSON.parse(told)).toMatchObject({
      error: { type: 'error', code: '23514', constraint: 'no_planted', table: 'operations' },
    });
    expect(told).not.toContain('planted row');
  });
});

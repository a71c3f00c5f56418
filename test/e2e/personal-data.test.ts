// A full run with words planted wherever a caller or a secret can put them. They may stand in the register's own columns, in answers
// to their owner and at the provider, and nowhere else; after erasing, nowhere at all.
import { createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { request } from 'undici';
import type { CredentialsFile } from '../../src/bootstrap/first-credentials.ts';
import { apiConfigOf, readConfig } from '../../src/config.ts';
import { reconcileWorkflowIdFor, workflowIdFor } from '../../src/domain/idempotency-key.ts';
import { freePort } from '../../src/supervisor/probes.ts';
import { freshKey, startSystem, type RunningSystem } from '../support/running-system.ts';
import { until } from '../support/until.ts';
import { placesOf } from '../support/whole-database.ts';

const RUN = randomUUID().slice(0, 8);
/** A word of this run that nothing else contains. */
const planted = (what: string): string => `planted-${what}-${RUN}`;

const WORDS = {
  memo: planted('memo'),
  customer: planted('customer'),
  reason: planted('reason'),
  title: planted('title'),
  description: planted('description'),
  assignee: planted('assignee'),
  evidence: planted('evidence'),
  malformed: planted('malformed'),
  wrongToken: planted('wrong-token'),
};
const personal = Object.values(WORDS);

let system: RunningSystem;
let metricsPort: number;
let accounts: CredentialsFile['accounts'];
let secrets: readonly string[];

beforeAll(async () => {
  system = await startSystem({ apis: 1, workers: 0, env: { LOG_LEVEL: 'trace' } });
  metricsPort = await freePort();
  await system.startWorker({ METRICS_PORT: String(metricsPort) });
  const file = readFileSync(join(system.home, 'credentials.json'), 'utf8');
  ({ accounts } = JSON.parse(file) as CredentialsFile);
  secrets = [
    ...Object.values(accounts).flatMap((people) => Object.values(people).map((one) => one.token)),
    ...readConfig({}).connections.flatMap(({ credential, webhookSecret }) => [
      credential.from === 'literal' ? credential.value : credential.name,
      webhookSecret.from === 'literal' ? webhookSecret.value : webhookSecret.name,
    ]),
  ];
});
afterAll(() => system.stop());

const apiUrl = (): string => system.apis[0]?.url ?? '';

interface Sending {
  readonly as?: string;
  readonly authorization?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

async function post(
  path: string,
  { as = 'agent', authorization, body, headers = {} }: Sending = {},
): Promise<Answer> {
  const token = authorization ?? `Bearer ${accounts['acct_a']?.[as]?.token}`;
  const answer = await request(`${apiUrl()}${path}`, {
    method: 'POST',
    headers: { authorization: token, 'content-type': 'application/json', ...headers },
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    reset: true,
    headersTimeout: 60_000,
  });
  const text = await answer.body.text();
  return { status: answer.statusCode, text, body: JSON.parse(text) as Answer['body'] };
}

const submit = (kind: string, key: string, body: unknown): Promise<Answer> =>
  post(`/agent/operations/${kind}`, { body, headers: { 'idempotency-key': key } });

const paymentBody = (key: string, members: object = {}) => ({
  amount: '10.00',
  currency: 'USD',
  customer_id: WORDS.customer,
  invoice_id: `inv-${key}`,
  memo: WORDS.memo,
  ...members,
});

interface Done {
  readonly key: string;
  readonly id: string;
  readonly kind: string;
  readonly body: unknown;
}

/** Submits and waits until nothing more happens. */
async function run(kind: string, key: string, body: unknown): Promise<Done> {
  const answer = await submit(kind, key, body);
  expect(answer.status).toBe(202);
  const id = String(answer.body['operation_id']);
  await system.atRest(id);
  return { key, id, kind, body };
}

async function pay(modes: readonly string[] = [], members: object = {}): Promise<Done> {
  const key = freshKey();
  if (modes.length > 0) await system.provider.script(key, ...modes);
  return run('payment', key, paymentBody(key, members));
}

/** An event as the provider signs it, with a secret of ours or of somebody else. */
async function tellEvent(object: object, secret: string): Promise<Answer> {
  const event = { id: `evt_${randomUUID()}`, created_at: new Date(Date.now() + 60_000) };
  const body = JSON.stringify({ ...event, attempt: 'current', data: { object } });
  const seconds = Math.floor(Date.now() / 1_000);
  const v1 = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return post('/connections/sandbox_acct_a/events', {
    body,
    headers: { 'sandbox-signature': `t=${seconds},v1=${v1}` },
  });
}

/** Everything that is done in a working week, with every word in its place. */
async function fullRun(): Promise<Done[]> {
  await system.planFor(WORDS.customer, { refusal_delays_ms: [100, 100, 100, 100] });
  const paid = await pay();
  const others = await Promise.all([
    pay(['commit_then_500']),
    pay(['decline']),
    pay(['error_503_not_executed', 'ok']),
    held(),
    run('refund', freshKey(), {
      payment_operation_id: paid.id,
      amount: '2.50',
      currency: 'USD',
      reason: WORDS.reason,
    }),
    run('ticket', freshKey(), {
      project: 'OPS',
      title: WORDS.title,
      description: WORDS.description,
      assignee: WORDS.assignee,
    }),
    reviewed(),
  ]);
  await misbehave(paid);
  return [paid, ...others];
}

/** One that waits for a person and expires. */
async function held(): Promise<Done> {
  const key = freshKey();
  const body = paymentBody(key, { amount: '5000.00' });
  const id = String((await submit('payment', key, body)).body['operation_id']);
  await system.pool.query(
    'update approvals set expires_at = holdfast_now() where operation_id = $1',
    [id],
  );
  await system.sweepNow(id);
  await system.atRest(id);
  return { key, id, kind: 'payment', body };
}

/** One that a person settles with evidence, and whose invoice they give back. */
async function reviewed(): Promise<Done> {
  const key = freshKey();
  await system.provider.lookups(key, 'two_matches');
  const done = await pay(['commit_then_timeout'], { invoice_id: `inv-${key}` });
  expect(await system.statusOf(done.id)).toBe('NEEDS_REVIEW');
  const word = { outcome: 'succeeded', evidence: WORDS.evidence, external_check: WORDS.evidence };
  const resolved = await post(`/operator/operations/${done.id}/resolve`, {
    as: 'operator',
    body: word,
  });
  expect(resolved.status).toBe(200);
  const body = { evidence: WORDS.evidence };
  const released = await post(`/operator/operations/${done.id}/release`, { as: 'operator', body });
  expect(released.status).toBe(200);
  return done;
}

/** What clients get wrong, each with a word in it. */
async function misbehave(paid: Done): Promise<void> {
  const word = WORDS.malformed;
  const statuses = await Promise.all(
    [
      submit('payment', freshKey(), `{"memo": "${word}`),
      submit('payment', freshKey(), `{"${word}": 1, "${word}": 2}`),
      submit('payment', freshKey(), { ...paymentBody('x'), [word]: word }),
      submit('payment', freshKey(), { ...paymentBody('x'), amount: word, currency: word }),
      submit('payment', paid.key, paymentBody(paid.key, { memo: word })),
      submit(word, freshKey(), {}),
      post(`/agent/operations/payment?${word}=${word}`, { body: {} }),
      post(`/operator/operations/${word}/resolve`, { as: 'operator', body: { evidence: word } }),
      post('/agent/operations/payment', { authorization: `Bearer ${WORDS.wrongToken}` }),
      post('/agent/operations/payment', { authorization: `Basic ${WORDS.wrongToken}` }),
      tellEvent({ id: word, object: 'payment', state: 'done', memo: word }, WORDS.wrongToken),
    ].map(async (sent) => (await sent).status),
  );
  expect(statuses).toEqual([400, 400, 422, 422, 409, 404, 400, 422, 401, 401, 401]);
}

/** All text of a value, with the bytes of payloads decoded. */
function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textOf).join('\n');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, member]) => `${name}: ${textOf(member)}`)
    .join('\n');
}

/** Histories and descriptions (memo, search attributes, summaries) of every run of every operation. */
async function engineText(): Promise<{ readonly runs: number; readonly text: string }> {
  const { rows } = await system.pool.query<{ id: string; account: string; key: string }>(
    `select operation_id as id, account_id as account, idempotency_key as key from operations`,
  );
  const ids = rows.flatMap(({ id, account, key }) => [
    workflowIdFor(account, key),
    reconcileWorkflowIdFor(account, id),
  ]);
  const texts = await Promise.all(
    ids.map(async (id) => {
      const handle = system.engine.workflow.getHandle(id);
      const history = await handle.fetchHistory().catch(() => undefined);
      return history && textOf([history, (await handle.describe()).raw]);
    }),
  );
  const found = texts.filter((text) => text !== undefined);
  return { runs: found.length, text: found.join('\n') };
}

const inText = (text: string, words: readonly string[]): string[] =>
  words.filter((word) => text.includes(word));

const erase = (id: string) => post(`/operator/operations/${id}/erase`, { as: 'operator' });

describe('a full run', () => {
  let done: readonly Done[];
  beforeAll(async () => {
    done = await fullRun();
  });

  it('has gone every way that it should', async () => {
    const states = await Promise.all(done.map(({ id }) => system.statusOf(id)));
    expect(new Set(states)).toEqual(new Set(['SUCCEEDED', 'FAILED', 'EXPIRED']));
    const columns = new Set(
      (await placesOf(system.pool, personal)).map((one) => one.split(':')[0]),
    );
    // The search finds what is there, in the columns that may hold it.
    expect([...columns].filter((one) => one !== 'test_plans.subject')).toEqual([
      'attempts.request_body',
      'evidence.detail',
      'operations.command',
      'operations.response_body',
    ]);
  });

  it('leaves no word and no secret in a history', async () => {
    const { runs, text } = await engineText();
    expect(runs).toBeGreaterThan(done.length);
    expect(text).toContain('"fingerprint":"');
    expect(inText(text, [...personal, ...secrets])).toEqual([]);
  });

  it('leaves none in the logs of API and worker, however much they log', () => {
    const text = [...system.started('api'), ...system.started('worker')]
      .map((one) => one.fullLog())
      .join('\n');
    for (const id of done.map((one) => one.id)) expect(text).toContain(id);
    expect(inText(text, [...personal, ...secrets])).toEqual([]);
  });

  it('leaves none in the metrics of either', async () => {
    const answer = await request(`http://127.0.0.1:${metricsPort}/metrics`, { reset: true });
    const text = await answer.body.text();
    expect(text).toContain('holdfast_submits_total');
    expect(text).toContain('holdfast_provider_calls_total');
    expect(inText(text, [...personal, ...secrets])).toEqual([]);
  });

  it('leaves none in the audit', async () => {
    const { rows } = await system.pool.query(
      'select to_jsonb(a)::text as text from audit_events a',
    );
    const text = rows.map((row) => row.text).join('\n');
    for (const type of ['claimed', 'sent', 'lookup', 'refused', 'resolved']) {
      expect(text).toContain(`"${type}"`);
    }
    expect(inText(text, [...personal, ...secrets])).toEqual([]);
  });

  it('leaves no secret in the register', async () => {
    expect(await placesOf(system.pool, secrets)).toEqual([]);
  });
});

describe('after erasing', () => {
  it('no table holds a word, repeats are answered, and a late word of the provider still counts', async () => {
    const paid = await pay();
    const { rows } = await system.pool.query<{ id: string }>(
      'select operation_id as id from operations',
    );
    for (const { id } of rows) expect((await erase(id)).status).toBe(200);
    await system.pool.query('delete from test_plans');
    expect(await placesOf(system.pool, personal)).toEqual([]);

    const repeat = await submit('payment', paid.key, paid.body);
    expect(repeat).toMatchObject({ status: 200, body: { erased_at: expect.any(String) } });
    expect(inText(repeat.text, personal)).toEqual([]);

    const { reference, token } = repeat.body['provider'] as Record<string, string>;
    const secret = apiConfigOf(readConfig({})).connections[0]?.webhookSecret;
    const takenBack = { id: reference, object: 'payment', token, state: 'failed' };
    const told = await tellEvent(takenBack, secret?.from === 'literal' ? secret.value : '');
    expect(told.body).toMatchObject({ result: 'recorded' });
    expect(await system.statusOf(paid.id)).toBe('NEEDS_REVIEW');
    await post(`/operator/operations/${paid.id}/reconcile`, { as: 'operator' });
    await until('the provider was asked', async () => {
      const { rows: looks } = await system.pool.query(
        `select detail from evidence where operation_id = $1 and type = 'lookup'`,
        [paid.id],
      );
      return looks[0];
    });
    expect(await system.statusOf(paid.id)).toBe('NEEDS_REVIEW');
  });
});

describe('retention', () => {
  it('of a second is kept by the worker itself, and a repeat says when', async () => {
    const paid = await pay();
    await system.startWorker({ RETENTION_MS: '1000' });
    const answer = await until('the operation has expired', async () => {
      const repeat = await submit('payment', paid.key, paid.body);
      return repeat.body['expired_at'] !== undefined && repeat;
    });
    expect(answer.status).toBe(200);
    expect(await placesOf(system.pool, personal)).toEqual([]);
  });
});

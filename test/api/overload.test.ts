// More at once than one process can do: everybody gets an answer, and what is refused has left nothing behind.
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiInProcess, type Answer, type ApiInProcess } from '../support/api-in-process.ts';
import { openRegister, type Register } from '../support/register.ts';
import { until } from '../support/until.ts';

let register: Register;
let api: ApiInProcess;

beforeAll(async () => {
  register = await openRegister();
  // Out of the way: this is about what gets past the limits of single principals.
  api = await apiInProcess(register, { RATE_LIMIT_SUBMITS_PER_S: '100000' });
});
afterAll(async () => {
  await api.stop();
  await register.close();
});

describe('2,000 submits at once', () => {
  const keys = Array.from({ length: 2_000 }, () => randomUUID());
  const answers: (Answer & { readonly key: string })[] = [];
  const withStatus = (status: number) => answers.filter((one) => one.status === status);

  /** The database takes no claim until most are answered, so that everything waits that can wait. */
  beforeAll(async () => {
    // Without the pool's own limits on idle transactions.
    const db = new Client({ connectionString: register.url });
    await db.connect();
    await db.query('begin');
    await db.query('lock table business_keys in access exclusive mode');
    const sent = keys.map(async (key) => {
      answers.push({ key, ...(await api.submit({ key })) });
    });
    await until('those that found no place are answered', () => answers.length >= 1_500);
    await db.query('commit');
    await db.end();
    await Promise.all(sent);
  });

  it('are all answered, with 202 or with 503 and when to repeat', () => {
    const refused = withStatus(503);
    expect(withStatus(202).length + refused.length).toBe(2_000);
    for (const { headers, body } of refused) {
      expect(body.code).toBe('unavailable');
      expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
    }
  });

  it('leave nothing half-claimed', async () => {
    const operations = await register.count('select count(*) from operations');
    expect(operations).toBeGreaterThanOrEqual(withStatus(202).length);
    const belonging = [
      'select count(*) from idempotency_keys',
      'select count(*) from business_keys',
      `select count(*) from outbox_messages where type = 'start'`,
      `select count(*) from audit_events where type = 'claimed'`,
    ];
    for (const sql of belonging) expect(await register.count(sql)).toBe(operations);
    const accepted = withStatus(202).map(({ body }) => body.operation_id);
    const found = 'select count(*) from operations where operation_id = any ($1)';
    expect(await register.count(found, [accepted])).toBe(new Set(accepted).size);
  });

  it('leave a process that serves on: what was refused is accepted when it is repeated', async () => {
    const refused = withStatus(503).slice(0, 50);
    const repeated = await Promise.all(refused.map(({ key }) => api.submit({ key })));
    expect(new Set(repeated.map(({ status }) => status))).toEqual(new Set([202]));
  });
});

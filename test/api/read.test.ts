import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPool } from '../../src/store/pool.ts';
import { freePort } from '../../src/supervisor/probes.ts';
import { newKey, paymentBody, startTestApi, work, type TestApi } from '../support/api.ts';
import { openRegister, stored, type Register } from '../support/register.ts';

let register: Register;
let api: TestApi;
let id: string;
beforeAll(async () => {
  register = await openRegister();
  api = await startTestApi(register);
  id = String((await api.submit(newKey(), paymentBody())).body['operation_id']);
});
afterAll(async () => {
  await api.stop();
  await register.close();
});

const read = (operationId: string, as = 'acct_a.agent') =>
  api.call('GET', `/agent/operations/${operationId}`, { as });

describe('an operation', () => {
  it('is read as it was submitted', async () => {
    const answer = await read(id);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ operation_id: id, status: 'PENDING' });
    expect(answer.headers['retry-after']).toMatch(/^[1-9]/);
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
  });

  it.each(['agent', 'agent_2', 'approver', 'operator'])(
    'is read by the %s of its account',
    async (name) => {
      expect((await read(id, `acct_a.${name}`)).status).toBe(200);
    },
  );

  it.each(['auditor', 'admin'])('is not read by the %s', async (name) => {
    const answer = await read(id, `acct_a.${name}`);
    expect([answer.status, answer.body['code']]).toEqual([403, 'forbidden']);
  });

  it.each(['acct_b.agent', 'acct_b.approver', 'acct_b.operator', 'acct_a.agent_bare'])(
    'is for %s what an id is that never was: the very same bytes',
    async (as) => {
      const [foreign, never] = [await read(id, as), await read('op_never', as)];
      expect(foreign.status).toBe(404);
      expect(foreign.text).toBe(never.text);
      const { date: _, ...headers } = foreign.headers;
      expect(never.headers).toMatchObject(headers);
    },
  );

  it('is its stored bytes once it is settled, for whoever reads it', async () => {
    const { body } = await api.submit(newKey(), paymentBody());
    const settledId = String(body['operation_id']);
    await work(register, settledId);
    const { operation } = await stored(register, settledId);
    for (const name of ['agent', 'approver', 'operator']) {
      const answer = await read(settledId, `acct_a.${name}`);
      expect(answer.text).toBe(operation.responseBody);
      expect(answer.headers).not.toHaveProperty('retry-after');
    }
  });

  it('is not asked for with query parameters that nobody knows', async () => {
    const answer = await api.call('GET', `/agent/operations/${id}?wait=1`);
    expect([answer.status, answer.body['code']]).toEqual([400, 'invalid_parameter']);
    expect(answer.body['parameter']).toBe('wait');
  });

  it('has a HEAD without a body, with the length that it would have', async () => {
    const path = `/agent/operations/${id}`;
    const [answer, whole] = [await api.call('HEAD', path), await api.call('GET', path)];
    expect([answer.status, answer.text]).toEqual([200, '']);
    expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(whole.text)));
    expect(answer.headers['content-type']).toBe(whole.headers['content-type']);
  });

  it.each(['%00', 'a%00b', '%F0%9F%92%B8', '%E2%80%AE', 'x'.repeat(4_000), '__proto__', '%2e%2e'])(
    'with the id %s is 404 like any other that never was',
    async (odd) => {
      const answer = await read(odd);
      expect([answer.status, answer.body['code']]).toEqual([404, 'not_found']);
    },
  );
});

describe('a path', () => {
  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    'of an operation answers %s with 405 and that it takes GET',
    async (method) => {
      const answer = await api.call(method, `/agent/operations/${id}`);
      expect([answer.status, answer.body['code']]).toEqual([405, 'method_not_allowed']);
      expect(answer.headers['allow']).toBe('GET');
    },
  );

  it.each(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])(
    'of a kind answers %s with 405 and that it takes POST',
    async (method) => {
      const answer = await api.call(method, '/agent/operations/payment');
      expect([answer.status, answer.headers['allow']]).toEqual([405, 'POST']);
    },
  );

  it.each(['/healthz', '/readyz'])('%s answers POST with 405', async (path) => {
    const answer = await api.call('POST', path, { body: '' });
    expect([answer.status, answer.headers['allow']]).toEqual([405, expect.stringContaining('GET')]);
  });

  it.each(['/', '/nothing', '/agent', '/agent/nothing', '/Agent/operations/x'])(
    '%s that is none is 404 as a problem',
    async (path) => {
      const answer = await api.call('GET', path);
      expect([answer.status, answer.body['code']]).toEqual([404, 'not_found']);
    },
  );

  it.each(['%', '%zz', '%E0%A4%A', '%C0%AF', '%ff'])(
    'with the malformed percent-encoding %s is the client’s fault',
    async (part) => {
      for (const method of ['GET', 'POST']) {
        const answer = await api.call(method, `/agent/operations/${part}`, {
          headers: { 'content-type': 'application/json' },
          ...(method === 'POST' && { body: {} }),
        });
        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(answer.status).toBeLessThan(500);
        expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
      }
    },
  );

  it('of a kind that is none is 404', async () => {
    for (const kind of ['nothing', 'Payment', 'payment%2f', '__proto__', 'constructor', '%00']) {
      const answer = await api.call('POST', `/agent/operations/${kind}`, {
        headers: { 'content-type': 'application/json', 'idempotency-key': newKey() },
        body: paymentBody(),
      });
      expect([answer.status, answer.body['code']]).toEqual([404, 'unknown_kind']);
    }
  });
});

describe('while Postgres can’t be reached', () => {
  let cut: TestApi;
  beforeAll(async () => {
    const url = `postgres://holdfast@127.0.0.1:${await freePort()}/gone`;
    cut = await startTestApi(register, {
      pool: createPool(url, { max: 2, onIdleError: () => {} }),
    });
  });
  afterAll(() => cut.stop());

  it('a submit is 503 with Retry-After, and says to repeat with the same key', async () => {
    const answer = await cut.submit(newKey(), paymentBody());
    expect([answer.status, answer.body['code']]).toEqual([503, 'unavailable']);
    expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(answer.body).toMatchObject({ next_action: 'retry_same_key', retry: 'wait' });
    expect(answer.body['detail']).toMatch(/repeat with the same key/);
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
  });

  it('a read is 503 as well', async () => {
    expect((await cut.call('GET', `/agent/operations/${id}`)).status).toBe(503);
  });

  it('the process lives and is not ready', async () => {
    expect((await cut.call('GET', '/healthz')).status).toBe(200);
    const ready = await cut.call('GET', '/readyz');
    expect([ready.status, ready.body['status']]).toEqual([503, 'unavailable']);
  });

  it('nothing of the database is told', async () => {
    const answer = await cut.submit(newKey(), paymentBody());
    expect(answer.text).not.toMatch(/ECONN|127\.0\.0\.1|postgres/i);
  });
});

describe('health', () => {
  it('is ready with Postgres and its schema, and says so without a credential', async () => {
    expect(await api.call('GET', '/healthz', { as: null })).toMatchObject({ status: 200 });
    expect(await api.call('GET', '/readyz', { as: null })).toMatchObject({
      status: 200,
      body: { status: 'ok', policy: true },
    });
  });

  it('says where the policy file can not be used as it stands, and is ready all the same', async () => {
    const stale = await startTestApi(register, { policyIsFresh: () => false });
    const ready = await stale.call('GET', '/readyz', { as: null });
    expect([ready.status, ready.body]).toEqual([
      200,
      { status: 'ok', postgres: true, temporal: true, policy: false },
    ]);
    await stale.stop();
  });
});

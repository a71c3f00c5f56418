// The one moment in which the API can't know: the commit of its claim was sent and the answer is lost. The pool is real; only the answer
// to `commit` is taken away, after or before it reached Postgres.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PoolClient } from 'pg';
import { createPool, type Pool } from '../../src/store/pool.ts';
import { newKey, paymentBody, startTestApi, type TestApi } from '../support/api.ts';
import { openRegister, type Register } from '../support/register.ts';

let register: Register;
let pool: Pool;
let api: TestApi;
/** What becomes of the next commit. */
let fate: 'kept' | 'answer lost' | 'never arrived' = 'kept';

const lost = () => Promise.reject(new Error('Connection terminated unexpectedly'));

/** Takes the answer to `commit` away from one client. */
function losingCommits(client: PoolClient): PoolClient {
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const method = value.bind(target) as (...args: unknown[]) => unknown;
      if (name !== 'query') return method;
      return async (...args: unknown[]) => {
        if (args[0] !== 'commit' || fate === 'kept') return method(...args);
        await method(fate === 'answer lost' ? 'commit' : 'rollback');
        return lost();
      };
    },
  });
}

beforeAll(async () => {
  register = await openRegister();
  pool = createPool(register.url, { max: 5, onIdleError: () => {} });
  const losing = new Proxy(pool, {
    get(target, name) {
      if (name === 'connect') return async () => losingCommits(await target.connect());
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  api = await startTestApi(register, { pool: losing });
});
afterAll(async () => {
  await api.stop();
  await pool.end();
  await register.close();
});

describe('a claim whose commit has no answer', () => {
  it('is 202 as created where it was recorded after all, and the engine is told', async () => {
    fate = 'answer lost';
    const [key, body] = [newKey(), paymentBody()];
    const answer = await api.submit(key, body);
    fate = 'kept';
    expect([answer.status, answer.headers['operation-disposition']]).toEqual([202, 'created']);
    const again = await api.submit(key, body);
    expect(again.body['operation_id']).toBe(answer.body['operation_id']);
    const id = String(answer.body['operation_id']);
    await expect.poll(() => api.starter.started).toContain(id);
  });

  it('is 503 where it was not recorded, and the same key then works', async () => {
    fate = 'never arrived';
    const [key, body] = [newKey(), paymentBody()];
    const answer = await api.submit(key, body);
    fate = 'kept';
    expect([answer.status, answer.body['code']]).toEqual([503, 'unavailable']);
    expect(answer.headers['retry-after']).toMatch(/^[1-9]/);
    const again = await api.submit(key, body);
    expect([again.status, again.headers['operation-disposition']]).toEqual([202, 'created']);
  });
});

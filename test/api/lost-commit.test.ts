// The one moment in which the API can't know: the commit of its claim was sent and the answer is lost. The pool is real; only the answer
// to the claim is taken away, after or before it reached Postgres.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { QueryConfig } from 'pg';
import { CLAIMS } from '../../src/store/claim-statement.ts';
import { createPool, type Pool } from '../../src/store/pool.ts';
import { newKey, paymentBody, startTestApi, type TestApi } from '../support/api.ts';
import { openRegister, type Register } from '../support/register.ts';

let register: Register;
let pool: Pool;
let api: TestApi;
/** What becomes of the next commit. */
let fate: 'kept' | 'answer lost' | 'never arrived' = 'kept';

const lost = () => Promise.reject(new Error('Connection terminated unexpectedly'));

/** A pool whose claims lose their answer, as `fate` says. A claim is one statement, so its commit is part of it. */
function losingClaims(target: Pool): Pool {
  const query = async (statement: string | QueryConfig, values: unknown[]) => {
    const isClaim = typeof statement === 'object' && statement.name === CLAIMS.name;
    if (!isClaim || fate === 'kept') return target.query(statement, values);
    if (fate === 'answer lost') await target.query(statement);
    return lost();
  };
  return new Proxy(target, {
    get(_, name) {
      if (name === 'query') return query;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

beforeAll(async () => {
  register = await openRegister();
  pool = createPool(register.url, { max: 5, onIdleError: () => {} });
  api = await startTestApi(register, { pool: losingClaims(pool) });
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

// An API that is told to stop answers what is under way and takes nothing new.
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acceptsConnections } from '../../src/supervisor/probes.ts';
import { apiInProcess, type ApiInProcess } from '../support/api-in-process.ts';
import { openRegister, type Register } from '../support/register.ts';
import { until } from '../support/until.ts';

let register: Register;
let api: ApiInProcess;

beforeEach(async () => {
  register = await openRegister();
  api = await apiInProcess(register);
});
afterEach(() => register.close());

describe('an API that stops', () => {
  it('answers a caller that it holds at once, with what is known', async () => {
    const key = randomUUID();
    const held = api.submit({ key, wait: 45 });
    await until('it is claimed', async () => (await register.rows('select 1 from operations'))[0]);
    await api.stopApi();
    expect(await held).toMatchObject({ status: 202, body: { status: 'PENDING' } });
  });

  it('finishes a claim that is under way, and answers it', async () => {
    const db = await register.pool.connect();
    await db.query('begin');
    await db.query('lock table business_keys in access exclusive mode');
    const claim = api.submit({ key: randomUUID() });
    await until('the claim waits', async () => {
      const waiting = await register.rows(
        `select 1 from pg_stat_activity where datname = current_database()
         and wait_event_type = 'Lock' and query like '%business_keys%'`,
      );
      return waiting.length > 0;
    });
    const stopped = api.stopApi();
    await until('it is closed', async () => !(await acceptsConnections(api.port)));
    await db.query('commit');
    db.release();
    expect(await claim).toMatchObject({ status: 202, body: { status: 'PENDING' } });
    await stopped;
    expect(await register.count('select count(*) from outbox_messages')).toBe(1);
  });

  it('does not wait for connections that are only open', async () => {
    await api.ready();
    await api.stopApi();
    expect(await acceptsConnections(api.port)).toBe(false);
  });
});

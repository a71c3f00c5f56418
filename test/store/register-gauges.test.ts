import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createRegisterGauges, createWorkerMetrics } from '../../src/observability/metrics.ts';
import type { Queryable } from '../../src/store/pool.ts';
import { enqueue } from '../../src/store/outbox.store.ts';
import { keepGauges } from '../../src/worker/register-gauges.ts';
import { claimed, openRegister, operationIn, type Register } from '../support/register.ts';
import { samplesOf, valueOf } from '../support/samples.ts';

let register: Register;
beforeAll(async () => {
  register = await openRegister();
});
afterAll(() => register.close());
beforeEach(() => register.pool.query('truncate operations, idempotency_keys cascade'));

const { connections } = readConfig({});
const scope = { connections, retentionMs: 3_600_000 };

/** A worker's gauges as a scraper sees them. */
function scraped(pool: Queryable = register.pool) {
  const { registry } = createWorkerMetrics();
  const refresh = keepGauges(pool, createRegisterGauges(registry), scope);
  return async () => {
    await refresh();
    const samples = samplesOf(await registry.metrics());
    return (name: string, labels?: Readonly<Record<string, string>>) =>
      valueOf(samples, `holdfast_${name}`, labels);
  };
}

describe('the gauges of the register', () => {
  it('show zeros, not gaps, where nothing is open', async () => {
    const value = await scraped()();
    const place = { kind: 'refund', adapter: 'sandbox', state: 'UNKNOWN' };
    expect(value('open_operations', place)).toBe(0);
    expect(value('oldest_open_operation_age_seconds', { state: 'NEEDS_REVIEW' })).toBe(0);
    expect(value('register_readable')).toBe(1);
    expect(value('outbox_undelivered_messages')).toBe(0);
    expect(value('sweep_due_operations')).toBe(0);
  });

  it('show what is open by state, with the age of the oldest over all accounts', async () => {
    await operationIn(register, 'UNKNOWN');
    await register.shiftClock(60_000);
    await operationIn(register, 'UNKNOWN', { accountId: 'acct_b' });
    const value = await scraped()();
    await register.shiftClock(0);
    expect(value('open_operations', { state: 'UNKNOWN' })).toBe(2);
    expect(value('oldest_open_operation_age_seconds', { state: 'UNKNOWN' })).toBeGreaterThan(59);
  });

  it('name no account, neither by itself nor as part of another name', async () => {
    await operationIn(register, 'UNKNOWN', { accountId: 'acct_b' });
    const { registry } = createWorkerMetrics();
    await keepGauges(register.pool, createRegisterGauges(registry), scope)();
    const text = await registry.metrics();
    expect(text).toMatch(/holdfast_open_operations\{.*UNKNOWN.*\} 1/);
    expect(text).not.toMatch(/acct_/);
  });

  it('show what of the audit waits to be sealed, and for how long', async () => {
    await register.pool.query('truncate audit_events');
    expect((await scraped()())('audit_seal_lag_seconds')).toBe(0);
    await claimed(register);
    await register.shiftClock(60_000);
    const value = await scraped()();
    await register.shiftClock(0);
    expect(value('audit_unsealed_events')).toBe(2);
    expect(value('audit_seal_lag_seconds')).toBeGreaterThan(59);
  });

  it('show who waits for a person, and why', async () => {
    await operationIn(register, 'NEEDS_REVIEW');
    await operationIn(register, 'AWAITING_APPROVAL');
    const value = await scraped()();
    expect(value('operations_needing_person', { reason: 'reconcile_deadline' })).toBe(1);
    expect(value('operations_needing_person', { reason: 'approval' })).toBe(1);
  });

  it('show how far outbox and sweep are behind', async () => {
    const { id } = await claimed(register);
    await enqueue(register.pool, id, 'wake');
    await register.pool.query(
      `update outbox_messages set parked_at = case type when 'wake' then holdfast_now() end,
         enqueued_at = holdfast_now() - interval '10 seconds'`,
    );
    await register.pool.query(
      `update operations set next_sweep_at = holdfast_now() - interval '20 seconds'`,
    );
    const value = await scraped()();
    expect(value('outbox_undelivered_messages')).toBe(1);
    expect(value('outbox_parked_messages')).toBe(1);
    expect(value('outbox_oldest_message_age_seconds')).toBeGreaterThanOrEqual(10);
    expect(value('sweep_due_operations')).toBe(1);
    expect(value('sweep_oldest_due_seconds')).toBeGreaterThanOrEqual(20);
  });

  it('show how far retention is behind', async () => {
    await operationIn(register, 'SUCCEEDED');
    await operationIn(register, 'UNKNOWN');
    await register.shiftClock(3_630_000);
    const value = await scraped()();
    await register.shiftClock(0);
    expect(value('retention_due_operations')).toBe(1);
    expect(value('retention_oldest_due_seconds')).toBeGreaterThanOrEqual(30);
  });

  it('are read once for all who scrape within a few seconds', async () => {
    const query = vi.spyOn(register.pool, 'query');
    const scrape = scraped();
    await Promise.all([scrape(), scrape(), scrape()]);
    await scrape();
    expect(query).toHaveBeenCalledTimes(5);
    query.mockRestore();
  });

  it('are missing, and said to be, where the database does not answer', async () => {
    let broken = false;
    const query = (...args: unknown[]) =>
      broken
        ? Promise.reject(new Error('away'))
        : (register.pool.query as (...all: unknown[]) => Promise<unknown>)(...args);
    await operationIn(register, 'UNKNOWN');
    const now = vi.spyOn(performance, 'now');
    const scrape = scraped({ query } as never);
    expect((await scrape())('open_operations', { state: 'UNKNOWN' })).toBe(1);
    broken = true;
    now.mockReturnValue(performance.now() + 60_000);
    const value = await scrape();
    now.mockRestore();
    expect(value('register_readable')).toBe(0);
    for (const name of ['open_operations', 'outbox_undelivered_messages', 'sweep_due_operations']) {
      expect(value(name)).toBeUndefined();
    }
  });
});

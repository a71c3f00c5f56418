import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { request } from 'undici';
import { freePort } from '../../src/supervisor/probes.ts';
import { freshKey, startSystem, type RunningSystem } from '../support/running-system.ts';
import { samplesOf, valueOf } from '../support/samples.ts';
import { until } from '../support/until.ts';

let system: RunningSystem;
let port: number;
beforeAll(async () => {
  system = await startSystem({ apis: 2, workers: 0 });
  port = await freePort();
  await system.startWorker({ METRICS_PORT: String(port) });
});
afterAll(() => system.stop());

async function scrape() {
  const answer = await request(`http://127.0.0.1:${port}/metrics`, { reset: true });
  const samples = samplesOf(await answer.body.text());
  return (name: string, labels?: Readonly<Record<string, string>>) =>
    valueOf(samples, `holdfast_${name}`, labels) ?? 0;
}

describe('one scrape of the worker’s port', () => {
  it('shows what every process of the home counted, and what the register says', async () => {
    const key = freshKey();
    const payment = { key, invoice_id: `planted-${key}`, customer_id: 'cus_planted' };
    await system.provider.script(key, 'commit_then_timeout');
    const { body } = await system.submit(payment);
    await system.atRest(body.operation_id);
    await system.submit(payment);
    await system.submit({ ...payment, api: system.apis[1]?.url ?? '' });
    await system.submit({ ...payment, amount: '11.00' });
    // The run counts its end after the row shows it.
    const value = await until('the reconciliation is counted', async () => {
      const read = await scrape();
      return read('reconciliations_total') > 0 && read;
    });
    expect(value('duplicates_prevented_total', { reason: 'replayed' })).toBe(2);
    expect(value('duplicates_prevented_total', { reason: 'fingerprint_mismatch' })).toBe(1);
    expect(value('submits_total', { answer: 'created' })).toBe(1);
    expect(value('provider_calls_total', { call: 'write', outcome: 'timeout' })).toBe(1);
    expect(value('reconciliations_total', { result: 'settled' })).toBe(1);
    expect(value('execution_duration_seconds_count', { state: 'SUCCEEDED' })).toBe(1);
    expect(value('operation_retries_count')).toBe(1);
    expect(value('http_request_duration_seconds_count', { method: 'POST' })).toBe(4);
    expect(value('register_readable')).toBe(1);
  });

  it('shows operations that nobody works on', async () => {
    const { body } = await system.submit({ amount: '999999.00' });
    expect(body.status).toBe('AWAITING_APPROVAL');
    const waiting = await until('the approval is shown', async () => {
      const value = await scrape();
      return value('operations_needing_person', { reason: 'approval' }) === 1;
    });
    expect(waiting).toBe(true);
  });
});

describe('a port that is taken', () => {
  it('costs a worker its metrics and nothing else', async () => {
    const second = await system.startWorker({ METRICS_PORT: String(port) });
    expect(second.fullLog()).toContain('metrics are not served');
    const { body } = await system.submit({ wait: 30 });
    expect(body.status).toBe('SUCCEEDED');
  });

  it('gives an API its own where one is named', async () => {
    const own = await freePort();
    const api = await system.startApi({ API_METRICS_PORT: String(own) });
    await system.submit({ api: api.url });
    const answer = await request(`http://127.0.0.1:${own}/metrics`, { reset: true });
    const samples = samplesOf(await answer.body.text());
    expect(valueOf(samples, 'holdfast_submits_total', { answer: 'created' })).toBe(1);
  });
});

describe('the logs of all processes', () => {
  it('hold neither tokens nor what customers are called, whatever happened before', () => {
    const log = [...system.started('api'), ...system.started('worker')]
      .map((one) => one.fullLog())
      .join('\n');
    expect(log).toMatch(/"lookup":"found".*"state_transition":"RECONCILING -> SUCCEEDED"/);
    expect(log).not.toMatch(/planted|hf_[\w-]{20}|Bearer/);
    // The provider's credential of the account.
    expect(log).not.toContain('sandbox-acct_a');
  });
});

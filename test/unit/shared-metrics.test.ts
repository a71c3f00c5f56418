import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createApiMetrics, createWorkerMetrics } from '../../src/observability/metrics.ts';
import { serveMetrics } from '../../src/observability/metrics-server.ts';
import { expositionOf, offerMetrics } from '../../src/observability/shared-metrics.ts';
import { freePort } from '../../src/supervisor/probes.ts';
import { samplesOf, valueOf } from '../support/samples.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'holdfast-metrics-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const SUBMITS = 'holdfast_submits_total';

/** An API that has counted so many submits and offers its metrics. */
async function offeringApi(name: string, submits: number) {
  const metrics = createApiMetrics();
  metrics.submits.inc({ kind: 'payment', answer: 'created' }, submits);
  metrics.requestDuration.observe(
    { method: 'POST', route: '/x', status_class: '2xx', held: 'false' },
    0.02,
  );
  const server = await offerMetrics(home, name, metrics.registry);
  let stopped = false;
  const stop = async () => {
    if (!stopped) await server.stop();
    stopped = true;
  };
  onTestFinished(stop);
  return { stop };
}

const shown = async () => {
  const worker = createWorkerMetrics();
  worker.retries.observe({ kind: 'payment', adapter: 'a' }, 1);
  return (await expositionOf(worker.registry, home)).body;
};

describe('the metrics of a home', () => {
  it('are the worker’s own where there is no API', async () => {
    const samples = samplesOf(await shown());
    expect(valueOf(samples, 'holdfast_operation_retries_count')).toBe(1);
    expect(valueOf(samples, SUBMITS)).toBeUndefined();
  });

  it('show every API by its name, so that one that ends takes away only its own', async () => {
    const [, second] = await Promise.all([offeringApi('api-1', 3), offeringApi('api-2', 4)]);
    const both = samplesOf(await shown());
    expect(valueOf(both, SUBMITS, { process: 'api-1' })).toBe(3);
    expect(valueOf(both, SUBMITS, { process: 'api-2' })).toBe(4);
    expect(valueOf(both, 'holdfast_operation_retries_count')).toBe(1);
    await second.stop();
    const one = samplesOf(await shown());
    expect(valueOf(one, SUBMITS, { process: 'api-1' })).toBe(3);
    expect(valueOf(one, SUBMITS, { process: 'api-2' })).toBeUndefined();
  });

  it('are one family each, with histograms in the order of their buckets', async () => {
    await Promise.all([offeringApi('api-1', 1), offeringApi('api-2', 1)]);
    const text = await shown();
    const types = text.split('\n').filter((line) => line.startsWith('# TYPE'));
    expect(new Set(types).size).toBe(types.length);
    const buckets = samplesOf(text).filter(
      ({ name, labels }) =>
        name === 'holdfast_http_request_duration_seconds_bucket' && labels['process'] === 'api-1',
    );
    const bounds = buckets.map(({ labels }) => Number(labels['le']?.replace('+Inf', 'Infinity')));
    expect(bounds).toEqual(bounds.toSorted((a, b) => a - b));
    expect(bounds.at(-1)).toBe(Infinity);
  });

  it('do without an API that does not answer in time', async () => {
    await offeringApi('api-1', 3);
    const silent = createServer(() => {}).listen(join(home, 'run', 'api-2.metrics.sock'));
    onTestFinished(() => void silent.close());
    expect(valueOf(samplesOf(await shown()), SUBMITS)).toBe(3);
    expect(readdirSync(join(home, 'run'))).toContain('api-2.metrics.sock');
  });

  it('do without one that was killed, whose successor may have its name', async () => {
    const dead = createServer().listen(join(home, 'run-socket'));
    onTestFinished(() => void dead.close());
    const { stop } = await offeringApi('api-1', 3);
    await stop();
    // What a kill leaves behind: a socket that nobody listens at.
    renameSync(join(home, 'run-socket'), join(home, 'run', 'api-1.metrics.sock'));
    await new Promise((resolve) => dead.close(resolve));
    expect(valueOf(samplesOf(await shown()), SUBMITS)).toBeUndefined();
    expect(readdirSync(join(home, 'run'))).toEqual([]);
    await offeringApi('api-1', 5);
    expect(valueOf(samplesOf(await shown()), SUBMITS)).toBe(5);
  });

  it('leave no socket behind after an orderly end', async () => {
    const { stop } = await offeringApi('api-1', 3);
    await stop();
    expect(readdirSync(join(home, 'run'))).toEqual([]);
  });
});

async function served(render: () => Promise<{ contentType: string; body: string }>) {
  const port = await freePort();
  const server = await serveMetrics({ port, host: '127.0.0.1' }, render);
  onTestFinished(() => server.stop());
  return (path: string, method: 'GET' | 'POST' = 'GET') =>
    request(`http://127.0.0.1:${port}${path}`, { method, reset: true });
}

describe('the port of metrics', () => {
  it('answers /metrics and nothing else', async () => {
    const ask = await served(async () => ({ contentType: 'text/plain', body: 'x 1\n' }));
    const answer = await ask('/metrics');
    expect(answer.headers['content-type']).toBe('text/plain');
    expect(await answer.body.text()).toBe('x 1\n');
    for (const other of [await ask('/'), await ask('/metrics/x'), await ask('/metrics', 'POST')]) {
      expect(other.statusCode).toBe(404);
      await other.body.dump();
    }
  });

  it('says so where the numbers can’t be had', async () => {
    const ask = await served(() => Promise.reject(new Error('broken')));
    const answer = await ask('/metrics');
    expect(answer.statusCode).toBe(500);
    expect(await answer.body.text()).toBe('');
  });
});

import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';

const refusal = (env: Record<string, string>): string => {
  try {
    readConfig(env);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
};

describe('the configuration', () => {
  it('has a default for everything', () => {
    const config = readConfig({});
    expect(config.ports).toMatchObject({
      api: 8080,
      sandbox: 8090,
      sandboxAdmin: 8091,
      metrics: 9464,
      apiMetrics: undefined,
      temporal: 7233,
      temporalUi: 8233,
      postgres: 54_329,
    });
    expect(config).toMatchObject({
      host: '127.0.0.1',
      postgres: { url: 'postgres://holdfast@127.0.0.1:54329/holdfast', embedded: true },
      temporal: { address: '127.0.0.1:7233', taskQueue: 'holdfast', embedded: true },
      approvalTtlMs: 24 * 3_600_000,
      providerDeadlineMs: 5_000,
      reconcile: { firstLookMs: 1_000, deadlineMs: 72 * 3_600_000 },
      sweepIntervalMs: 30_000,
      retention: { afterMs: 30 * 24 * 3_600_000, everyMs: 60_000 },
      audit: {
        headsFolder: join(process.cwd(), '.holdfast', 'audit', 'heads'),
        sealIntervalMs: 1_000,
        retentionMs: undefined,
      },
      rateLimits: { submitsPerS: 50, readsPerS: 200 },
    });
    expect(config.home).toBe(join(process.cwd(), '.holdfast'));
    expect(existsSync(config.policyFile)).toBe(true);
  });

  it('takes a retention that is short enough to be tried, and looks as often', () => {
    expect(readConfig({ RETENTION_MS: '200' }).retention).toEqual({ afterMs: 200, everyMs: 200 });
    expect(readConfig({ HOLDFAST_RIG: '1' }).retention.everyMs).toBe(1_000);
    expect(refusal({ RETENTION_MS: '0' })).toContain('RETENTION_MS');
    expect(refusal({ RETENTION_MS: '1e15' })).toContain('RETENTION_MS');
  });

  it('is taken from the environment', () => {
    const config = readConfig({
      PORT: '9001',
      POSTGRES_PORT: '9002',
      TEMPORAL_PORT: '9003',
      SANDBOX_PORT: '9004',
      HOLDFAST_HOME: 'elsewhere',
      APPROVAL_TTL_MS: '1500',
      POLICY_FILE: 'rules.yaml',
      RATE_LIMIT_SUBMITS_PER_S: '7',
      RATE_LIMIT_READS_PER_S: '9',
      AUDIT_HEADS: '/elsewhere/heads',
      AUDIT_SEAL_INTERVAL_MS: '250',
      AUDIT_RETENTION_MS: '60000',
    });
    expect(config.audit).toEqual({
      headsFolder: '/elsewhere/heads',
      sealIntervalMs: 250,
      retentionMs: 60_000,
    });
    expect(config.ports.api).toBe(9001);
    expect(config.postgres.url).toContain(':9002/');
    expect(config.temporal.address).toBe('127.0.0.1:9003');
    expect(config.connections.map(({ baseUrl }) => baseUrl)).toEqual([
      'http://127.0.0.1:9004',
      'http://127.0.0.1:9004',
    ]);
    expect(isAbsolute(config.home) && config.home.endsWith('/elsewhere')).toBe(true);
    expect(config.approvalTtlMs).toBe(1_500);
    expect(config.policyFile).toBe(join(process.cwd(), 'rules.yaml'));
    expect(config.rateLimits).toEqual({ submitsPerS: 7, readsPerS: 9 });
  });

  it('uses servers of others where it is told to', () => {
    const config = readConfig({
      DATABASE_URL: 'postgres://elsewhere/db',
      TEMPORAL_ADDRESS: 'elsewhere:7233',
    });
    expect(config.postgres).toEqual({ url: 'postgres://elsewhere/db', embedded: false });
    expect(config.temporal).toMatchObject({ address: 'elsewhere:7233', embedded: false });
  });

  it.each([
    ['PORT', '0'],
    ['PORT', '65536'],
    ['PORT', 'http'],
    ['PORT', '80.5'],
    ['PORT', ''],
    ['HOST', ''],
    ['METRICS_HOST', ''],
    ['SANDBOX_HOST', ''],
    ['PORT', '-1'],
    ['SANDBOX_PORT', 'x'],
    ['SANDBOX_ADMIN_PORT', 'x'],
    ['METRICS_PORT', 'x'],
    ['API_METRICS_PORT', '0'],
    ['SANDBOX_URL', 'sandbox:8090'],
    ['WEBHOOK_URL', ''],
    ['TEMPORAL_PORT', 'x'],
    ['TEMPORAL_UI_PORT', 'x'],
    ['POSTGRES_PORT', 'x'],
    ['HOLDFAST_HOME', ''],
    ['DATABASE_URL', ''],
    ['TEMPORAL_ADDRESS', ''],
    ['TEMPORAL_NAMESPACE', ''],
    ['TEMPORAL_TASK_QUEUE', ''],
    ['LOG_LEVEL', 'loud'],
    ['APPROVAL_TTL_MS', '0'],
    ['APPROVAL_TTL_MS', 'a day'],
    ['PROVIDER_DEADLINE_MS', '-5'],
    ['RECONCILE_FIRST_LOOK_MS', '0'],
    ['RECONCILE_DEADLINE_MS', '1.5'],
    ['SWEEP_INTERVAL_MS', ''],
    ['RELAY_INTERVAL_MS', 'often'],
  ])('is refused with the name of %s where it is "%s"', (name, value) => {
    expect(refusal({ [name]: value })).toMatch(new RegExp(`^configuration: .*\\b${name}: `));
  });

  it('names every variable that can’t be used', () => {
    expect(refusal({ PORT: 'x', LOG_LEVEL: 'x' })).toMatch(/PORT: .*LOG_LEVEL: /);
  });

  it('never repeats a value, which may be a secret', () => {
    expect(refusal({ PORT: 'hunter2', APPROVAL_TTL_MS: 'hunter2' })).not.toContain('hunter2');
  });

  it.each(['0.0.0.0', '::', '192.168.1.5', 'example.org'])(
    'keeps the embedded default off host "%s"',
    (HOST) => {
      expect(refusal({ HOST })).toContain('HOST: the embedded default binds loopback only');
    },
  );

  it.each(['127.0.0.1', '::1', 'localhost'])('lets the embedded default listen on %s', (HOST) => {
    expect(readConfig({ HOST }).host).toBe(HOST);
  });

  it.each(['SANDBOX_HOST', 'METRICS_HOST'])(
    'keeps the embedded default’s %s on loopback',
    (name) => {
      expect(refusal({ [name]: '0.0.0.0' })).toContain(
        `${name}: the embedded default binds loopback`,
      );
      const config = readConfig({ [name]: '0.0.0.0', DATABASE_URL: 'postgres://elsewhere/db' });
      expect([config.sandbox.host, config.metricsHost]).toContain('0.0.0.0');
    },
  );

  it('lets a sandbox that runs apart from its clients listen elsewhere, without a database', () => {
    const env = { SANDBOX_HOST: '0.0.0.0', SANDBOX_URL: 'http://sandbox:8090' };
    expect(readConfig(env).sandbox.host).toBe('0.0.0.0');
    expect(refusal({ ...env, HOST: '0.0.0.0' })).toContain('HOST: the embedded default');
  });

  it('reaches a sandbox, and is reached by it, where that runs elsewhere', () => {
    const config = readConfig({
      SANDBOX_URL: 'http://sandbox:8090/',
      WEBHOOK_URL: 'http://api:8080',
    });
    expect(new Set(config.connections.map(({ baseUrl }) => baseUrl))).toEqual(
      new Set(['http://sandbox:8090']),
    );
    expect(config.sandbox.webhookUrl).toBe('http://api:8080');
    expect(readConfig({ PORT: '9001' }).sandbox.webhookUrl).toBe('http://127.0.0.1:9001');
  });

  it('lets an installation with its own database listen elsewhere', () => {
    const config = readConfig({ HOST: '0.0.0.0', DATABASE_URL: 'postgres://elsewhere/db' });
    expect(config.host).toBe('0.0.0.0');
  });

  it('has no rig unless it is asked for, and never on a database that it didn’t start', () => {
    expect(readConfig({}).rig).toBe(false);
    expect(readConfig({ HOLDFAST_RIG: '1' })).toMatchObject({ rig: true, sweepIntervalMs: 1_000 });
    const env = { HOLDFAST_RIG: '1', DATABASE_URL: 'postgres://elsewhere/db' };
    expect(refusal(env)).toContain('HOLDFAST_RIG: faults are for the embedded default only');
  });

  it('gives each development account its own connection for every kind', () => {
    const { connections } = readConfig({});
    expect(connections.map(({ accounts }) => accounts)).toEqual([['acct_a'], ['acct_b']]);
    expect(new Set(connections.map(({ name }) => name)).size).toBe(2);
  });
});

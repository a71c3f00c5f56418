// Credentials of providers are the worker's: an API can neither name nor resolve one.
import { describe, expect, it } from 'vitest';
import type { startApi } from '../../src/api/start-api.ts';
import { apiConfigOf, readConfig } from '../../src/config.ts';
import { ownProcesses } from '../../src/supervisor/own-processes.ts';

const config = readConfig({});
const [first] = config.connections;
if (!first) throw new Error('no connection');

describe('the configuration of an API', () => {
  it('holds no credential and no reference to one', () => {
    const text = JSON.stringify(apiConfigOf(config));
    expect(text).toContain(first.name);
    expect(text).not.toContain('"credential"');
    for (const { credential } of config.connections) {
      expect(credential.from).toBe('literal');
      expect(text).not.toContain(`"${credential.from === 'literal' && credential.value}"`);
    }
  });

  it('is the only one that an API takes', () => {
    // @ts-expect-error With credentials it doesn't compile.
    const wrong: Parameters<typeof startApi>[0] = config;
    expect(wrong.connections[0]).toHaveProperty('credential');
  });
});

describe('the environment of our processes', () => {
  const connection = {
    ...first,
    credential: { from: 'env', name: 'ONE_KEY' },
    webhookSecret: { from: 'env', name: 'ONE_SECRET' },
  } as const;
  const env = { ONE_KEY: 'k', ONE_SECRET: 's', PATH: '/bin' };
  const envOf = (name: string, connections: typeof config.connections) =>
    ownProcesses({ ...config, connections }, '/bin', env).find((one) => one.name === name)?.env;

  it.each(['api', 'sandbox'])('of the %s has no credential, and what else it needs', (name) => {
    expect(envOf(name, [connection])).toEqual({ ONE_SECRET: 's', PATH: '/bin' });
  });

  it('of the worker is the supervisor’s own', () => {
    expect(envOf('worker', [connection])).toBeUndefined();
  });

  it('keeps a variable that is a webhook secret as well', () => {
    const both = { ...connection, credential: connection.webhookSecret };
    expect(envOf('api', [both])).toEqual(env);
  });
});

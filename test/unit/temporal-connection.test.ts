import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { NO_TRACING } from '../../src/observability/tracing.ts';
import { createTemporalClient, engineAnswers } from '../../src/temporal/connection.ts';
import { createWorkflowStarter } from '../../src/temporal/workflow-starter.ts';
import { operationOf } from '../support/operation-file.ts';

/** Takes connections and never says a word: an engine that hangs. */
let silent: Server;
beforeAll(async () => {
  silent = createServer(() => {});
  await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve));
});
afterAll(() => silent.close());
afterEach(() => vi.restoreAllMocks());

const clientOf = (port: number) =>
  createTemporalClient({ address: `127.0.0.1:${port}`, namespace: 'default' });

describe('calls to the engine', () => {
  it('end also where it takes the connection and says nothing', async () => {
    const client = clientOf((silent.address() as AddressInfo).port);
    expect(await engineAnswers(client)).toBe(false);
    await client.connection.close();
  });

  it('leave the promises of the process as cheap as they were', async () => {
    const entered = vi.spyOn(AsyncLocalStorage.prototype, 'run');
    const client = clientOf(1);
    await engineAnswers(client);
    const starter = createWorkflowStarter(client, 'holdfast', NO_TRACING);
    await expect(starter.start(operationOf())).rejects.toThrow();
    await client.connection.close();
    expect(entered).not.toHaveBeenCalled();
  });

  it('name their namespace', () => {
    const { connection } = createTemporalClient({ address: '127.0.0.1:1', namespace: 'payments' });
    expect(connection).toMatchObject({
      options: { metadata: { 'temporal-namespace': 'payments' } },
    });
  });
});

import { AsyncLocalStorage } from 'node:async_hooks';
import {
  createServer as createHttp2Server,
  type Http2Server,
  type IncomingHttpHeaders,
} from 'node:http2';
import { createServer, type AddressInfo, type Server } from 'node:net';
import type { Client } from '@temporalio/client';
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

  it('each name their namespace and a deadline', async () => {
    const engine = await openEngine();
    const client = createTemporalClient({ address: engine.address, namespace: 'payments' });
    const starter = createWorkflowStarter(client, 'holdfast', NO_TRACING);
    const operation = operationOf();
    await engineAnswers(client);
    await starter.start(operation);
    await starter.lookNow(operation);
    // What the engine says of the run is empty here, and no answer to that.
    await starter.isRunning(operation).catch(() => undefined);
    await client.connection.operatorService.listSearchAttributes({ namespace: 'payments' });
    await engine.close(client);
    expect(engine.calls.map((call) => call[':path']?.split('/').at(-1))).toEqual([
      'GetSystemInfo',
      'StartWorkflowExecution',
      'SignalWithStartWorkflowExecution',
      'DescribeWorkflowExecution',
      'ListSearchAttributes',
    ]);
    for (const call of engine.calls) {
      expect(call['temporal-namespace']).toBe('payments');
      expect(call['grpc-timeout']).toMatch(/^\d+[mS]$/);
    }
  });

  it('that tell several runs or several things go at once, so that one deadline is enough for all', async () => {
    const engine = await openEngine(2);
    const client = clientOf(engine.port);
    const starter = createWorkflowStarter(client, 'holdfast', NO_TRACING);
    await starter.wake(operationOf());
    await starter.decide(operationOf(), [{ n: 1 }, { n: 2 }]);
    await engine.close(client);
    expect(engine.calls).toHaveLength(4);
  });
});

/** An engine that answers every call with nothing; `together`: as soon as so many of them wait. */
async function openEngine(together = 1) {
  const calls: IncomingHttpHeaders[] = [];
  const waiting: (() => void)[] = [];
  const server: Http2Server = createHttp2Server();
  server.on('stream', (stream, headers) => {
    calls.push(headers);
    stream.resume();
    waiting.push(() => {
      stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(Buffer.alloc(5));
    });
    if (waiting.length === together) for (const answer of waiting.splice(0)) answer();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = async (client: Client): Promise<void> => {
    await client.connection.close();
    server.close();
  };
  return { address: `127.0.0.1:${port}`, port, calls, close };
}

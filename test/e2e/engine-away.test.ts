// Temporal is away, hangs, or is read by somebody else: the register serves on, and histories hold nothing worth reading.
import { createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reconcileWorkflowIdFor, workflowIdFor } from '../../src/domain/idempotency-key.ts';
import { freePort } from '../../src/supervisor/probes.ts';
import { freshKey, startSystem, type RunningSystem } from '../support/running-system.ts';

let system: RunningSystem;

/** A claim is first swept after 30 s: what is done sooner was started by the relay. */
const BEFORE_ANY_SWEEP_MS = 25_000;

beforeAll(async () => {
  system = await startSystem({ apis: 1 });
});
afterAll(() => system.stop());

describe('while Temporal is down', () => {
  it('a submit is answered 202, and the relay delivers it as soon as the engine is there', async () => {
    const cutOff = await system.startApi({ TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` });
    const { status, body } = await system.submit({ api: cutOff.url });
    expect({ status, state: body.status }).toEqual({ status: 202, state: 'PENDING' });
    const rest = await system.atRest(body.operation_id, BEFORE_ANY_SWEEP_MS);
    expect(rest).toMatchObject({ status: 'SUCCEEDED' });
    const { rows } = await system.pool.query(
      'select 1 from outbox_messages where operation_id = $1',
      [body.operation_id],
    );
    expect(rows).toEqual([]);
    await cutOff.kill();
  });

  it('a repeat of a settled key is answered with the stored bytes', async () => {
    const cutOff = await system.startApi({ TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` });
    const key = freshKey();
    const { text } = await system.submit({ key, wait: 30 });
    expect(await system.submit({ key, api: cutOff.url })).toMatchObject({ status: 200, text });
    await cutOff.kill();
  });
});

// Engine fact 8: the client has no deadline of its own.
describe('while Temporal accepts connections and never answers', () => {
  const sockets = new Set<Socket>();
  let mute: Server;
  let hangingUrl: string;

  beforeAll(async () => {
    mute = createServer((socket) => sockets.add(socket));
    mute.listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const address = mute.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const hanging = await system.startApi({ TEMPORAL_ADDRESS: `127.0.0.1:${address.port}` });
    hangingUrl = hanging.url;
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    mute.close();
  });

  it('a submit is answered 202 within a second', async () => {
    await system.read('op_warm-up', { api: hangingUrl });
    const { status, body } = await system.submit({
      api: hangingUrl,
      signal: AbortSignal.timeout(1_000),
    });
    expect({ status, state: body.status }).toEqual({ status: 202, state: 'PENDING' });
    expect(await system.atRest(body.operation_id)).toMatchObject({ status: 'SUCCEEDED' });
  });

  it('many submits at once are all answered 202', async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, () =>
        system.submit({ api: hangingUrl, signal: AbortSignal.timeout(5_000) }),
      ),
    );
    expect(new Set(answers.map((one) => one.status))).toEqual(new Set([202]));
  });

  it('reads and replays are answered', async () => {
    const key = freshKey();
    const { body, text } = await system.submit({ key, wait: 30 });
    expect(await system.read(body.operation_id, { api: hangingUrl })).toMatchObject({ text });
    expect(await system.submit({ key, api: hangingUrl })).toMatchObject({ status: 200, text });
  });
});

/** All text of a history, with the bytes of its payloads decoded. */
function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textOf).join('\n');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, member]) => `${name}: ${textOf(member)}`)
    .join('\n');
}

describe('histories', () => {
  it('hold neither customer nor invoice nor amount of an operation, however it went', async () => {
    const marked = { customer_id: 'cus_hidden_7319', amount: '731.95' };
    const scripts = [['ok'], ['decline'], ['commit_then_500'], ['error_503_not_executed', 'ok']];
    await system.planFor(marked.customer_id, { refusal_delays_ms: [100, 100, 100, 100] });
    const histories = await Promise.all(
      scripts.map(async (modes) => {
        const key = freshKey();
        await system.provider.script(key, ...modes);
        const invoice_id = `inv_hidden_${modes[0]}`;
        const { body } = await system.submit({ key, ...marked, invoice_id });
        await system.atRest(body.operation_id);
        return historiesOf(key, body.operation_id);
      }),
    );
    const text = textOf(histories);
    // The search reads payloads: what is meant to be there is found.
    expect(text).toContain('"operation_id":"op_');
    expect(text).toContain('"fingerprint":"');
    for (const secret of ['cus_hidden', 'inv_hidden', '731.95', '73195']) {
      expect(text).not.toContain(secret);
    }
  });
});

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;

async function historiesOf(key: string, operationId: string): Promise<History[]> {
  const ids = [workflowIdFor('acct_a', key), reconcileWorkflowIdFor('acct_a', operationId)];
  const found = await Promise.all(
    ids.map((id) =>
      system.engine.workflow
        .getHandle(id)
        .fetchHistory()
        .catch(() => undefined),
    ),
  );
  return found.filter((one) => one !== undefined);
}

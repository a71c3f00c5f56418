// Tracing as a deployment has it: API and worker with a collector that takes their spans over HTTP.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../src/supervisor/probes.ts';
import { freshKey, startSystem, type RunningSystem } from '../support/running-system.ts';
import { until } from '../support/until.ts';

interface Value {
  readonly stringValue?: string;
  readonly intValue?: number | string;
}

interface Attribute {
  readonly key: string;
  readonly value: Value;
}

interface SentSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly attributes: readonly Attribute[];
}

/** Members of OTLP's ExportTraceServiceRequest in JSON. */
interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

type Collected = Omit<SentSpan, 'attributes'> & {
  readonly service: unknown;
  readonly attributes: Readonly<Record<string, unknown>>;
};

const recordOf = (attributes: readonly Attribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

const spansIn = ({ resourceSpans }: Sent): Collected[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map((span) => ({
        ...span,
        service: recordOf(resource.attributes)['service.name'],
        attributes: recordOf(span.attributes),
      })),
  );

let collector: Server;
let bodies: string[];
let system: RunningSystem;

beforeAll(async () => {
  bodies = [];
  collector = createServer((incoming, response) => {
    void text(incoming).then((body) => {
      if (incoming.url === '/v1/traces') bodies.push(body);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_BSP_SCHEDULE_DELAY: '100',
  };
  system = await startSystem({ env });
});
afterAll(async () => {
  await system.stop();
  collector.close();
});

const collected = (): Collected[] => bodies.flatMap((body) => spansIn(JSON.parse(body) as Sent));

/** The spans of one trace, once all of these are there. */
const untilTraced = (traceId: string, ...names: string[]): Promise<Collected[]> =>
  until(`${traceId} has ${names.join(', ')}`, () => {
    const own = collected().filter((span) => span.traceId === traceId);
    return names.every((name) => own.some((span) => span.name === name)) && own;
  });

function one(spans: readonly Collected[], name: string): Collected {
  const found = spans.filter((span) => span.name === name);
  expect(found.map((span) => span.name)).toEqual([name]);
  return found[0] as Collected;
}

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const SUBMIT = 'POST /agent/operations/:name';

describe('one trace', () => {
  it('leads from the caller through request, run and activity to the call of the provider', async () => {
    const key = freshKey();
    const { body } = await system.submit({
      key,
      wait: 30,
      customer_id: 'cus_planted',
      headers: { traceparent: `00-${TRACE}-${CALLER}-01` },
    });
    expect(body.status).toBe('SUCCEEDED');
    const names = [SUBMIT, 'start executeOperation', 'dispatch', 'sandbox write'];
    const spans = await untilTraced(TRACE, ...names);
    expect(spans.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
    const [server, start, dispatch, call] = names.map((name) => one(spans, name));
    expect(server).toMatchObject({ parentSpanId: CALLER, service: 'holdfast-api', kind: 2 });
    expect(start).toMatchObject({ parentSpanId: server?.spanId, service: 'holdfast-api' });
    expect(dispatch).toMatchObject({ parentSpanId: server?.spanId, service: 'holdfast-worker' });
    expect(call).toMatchObject({ parentSpanId: dispatch?.spanId, kind: 3 });
    const [write] = (await system.provider.calls()).filter(
      (seen) => seen.operation_id === body.operation_id,
    );
    expect(write?.traceparent).toBe(`00-${TRACE}-${call?.spanId}-01`);
    const { memo } = await system.runOf(key).describe();
    expect(memo).toEqual({ traceparent: `00-${TRACE}-${server?.spanId}-01` });
  });

  it('says of each span which operation, attempt and transition it was', async () => {
    const spans = collected().filter(({ traceId }) => traceId === TRACE);
    for (const { attributes } of spans) {
      expect(attributes).toMatchObject({
        operation_id: expect.stringMatching(/^op_/),
        idempotency_key: expect.any(String),
        agent_id: 'acct_a.agent',
      });
    }
    expect(one(spans, 'dispatch').attributes).toMatchObject({
      state_transition: 'PENDING -> SUCCEEDED',
    });
    expect(one(spans, 'sandbox write').attributes).toMatchObject({
      attempt_number: 1,
      outcome: 'succeeded',
      provider_reference: expect.stringMatching(/^pay_/),
    });
  });

  it('begins at the request where the caller brought none, and holds what follows a lost answer', async () => {
    const key = freshKey();
    await system.provider.script(key, 'timeout_no_commit', 'ok');
    const { body } = await system.submit({ key });
    await system.atRest(body.operation_id);
    const of = (name: string) =>
      collected().filter(
        (span) => span.name === name && span.attributes['operation_id'] === body.operation_id,
      );
    await until('the resend is traced', () => of('resend').length > 0);
    const [server] = await until('the request is traced', () => {
      const found = of(SUBMIT);
      return found.length > 0 && found;
    });
    expect(server?.parentSpanId ?? '').toBe('');
    const [resend] = of('resend');
    expect(resend).toMatchObject({ traceId: server?.traceId, parentSpanId: server?.spanId });
    const writes = of('sandbox write').filter(({ traceId }) => traceId === server?.traceId);
    expect(writes.map(({ parentSpanId }) => parentSpanId)).toContain(resend?.spanId);
    const looks = of('look up');
    expect(looks.length).toBeGreaterThan(1);
    const lookups = of('sandbox lookup');
    for (const { parentSpanId } of lookups) {
      expect(looks.map(({ spanId }) => spanId)).toContain(parentSpanId);
    }
  });

  it('holds no payload and no credential', () => {
    expect(bodies.length).toBeGreaterThan(0);
    expect(bodies.join('\n')).not.toMatch(/planted|10\.00|Bearer|hf_[\w-]{20}|sandbox-acct_a/);
  });
});

describe('spans that are left when a process ends', () => {
  it('are sent before it does', async () => {
    const api = await system.startApi({ OTEL_BSP_SCHEDULE_DELAY: '600000' });
    const traceId = '1'.repeat(32);
    await system.submit({
      api: api.url,
      headers: { traceparent: `00-${traceId}-${CALLER}-01` },
    });
    expect(await api.stop()).toBe('exit code 0');
    expect(collected().map((span) => span.traceId)).toContain(traceId);
  });
});

describe('a collector that is away', () => {
  it('costs spans and a line in the log, and nothing else', async () => {
    const nowhere = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}` };
    const api = await system.startApi(nowhere);
    const { body } = await system.submit({ api: api.url, wait: 30 });
    expect(body.status).toBe('SUCCEEDED');
    // The exporter tries for a while before it gives a batch up.
    await until('it is logged', () => api.fullLog().includes('spans are not exported'));
    expect(await api.stop()).toBe('exit code 0');
  });
});

describe('without a collector', () => {
  it('a traceparent is passed on as it came, and the SDK is not loaded', async () => {
    const key = freshKey();
    const plain = await startSystem({ env: { NODE_DEBUG: 'module,esm' } });
    try {
      const traceparent = `00-${'2'.repeat(32)}-${CALLER}-01`;
      const { body } = await plain.submit({ key, wait: 30, headers: { traceparent } });
      expect(body.status).toBe('SUCCEEDED');
      const [write] = await plain.provider.calls();
      expect(write?.traceparent).toBe(traceparent);
      for (const process of [...plain.apis, ...plain.workers]) {
        // Node says what it loads.
        expect(process.fullLog()).toMatch(/pino/);
        expect(process.fullLog()).not.toContain('sdk-trace');
      }
    } finally {
      await plain.stop();
    }
  });
});

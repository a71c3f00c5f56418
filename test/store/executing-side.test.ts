// What a worker counts and logs while it sends and asks: the activities over a real register, with a provider that answers as told.
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ActivityDependencies } from '../../src/activities/dependencies.ts';
import { createActivities } from '../../src/activities/index.ts';
import { send } from '../../src/activities/send.ts';
import { fingerprintOf } from '../../src/domain/fingerprint.ts';
import type { LookupAnswer, WriteOutcome } from '../../src/domain/outcome.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { NO_TRACING } from '../../src/observability/tracing.ts';
import { createWorkerMetrics } from '../../src/observability/metrics.ts';
import { sandboxProvider } from '../../src/providers/sandbox/sandbox.provider.ts';
import { claim } from '../../src/store/claims.store.ts';
import { DESK } from '../support/desk.ts';
import { OUTCOMES } from '../support/operation-file.ts';
import { begin, claimOf, move, openRegister, stored, type Register } from '../support/register.ts';
import { SHIPPED_POLICY } from '../support/policy.ts';
import { samplesOf, valueOf } from '../support/samples.ts';

const CREDENTIAL = 'planted-credential';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CONNECTION = {
  name: 'sandbox_acct_a',
  adapter: 'sandbox',
  baseUrl: 'http://127.0.0.1:1',
  credential: { from: 'literal', value: CREDENTIAL },
  webhookSecret: { from: 'literal', value: 'x' },
  accounts: ['acct_a'],
  kinds: ['payment'],
} as const;

const LOST: WriteOutcome = {
  status: 'unknown',
  reason: 'lost_answer',
  evidence: { code: 'ECONNRESET' },
};
const TIMED_OUT: WriteOutcome = { ...LOST, evidence: { code: 'deadline_exceeded' } };
const REFUSED: WriteOutcome = { status: 'not_sent', reason: 'provider_refused', evidence: {} };
const FOUND: LookupAnswer = {
  status: 'found',
  match: 'matching',
  state: 'done',
  references: ['pay_found'],
  result: { payment_id: 'pay_found' },
  evidence: {},
};
const UNAVAILABLE: LookupAnswer = { status: 'unavailable', evidence: {} };

let register: Register;
beforeAll(async () => {
  register = await openRegister();
});
afterAll(() => register.close());

let lines: string[];
let metrics: ReturnType<typeof createWorkerMetrics>;
beforeEach(() => {
  lines = [];
  metrics = createWorkerMetrics();
});

function worker(write: WriteOutcome, lookUp: LookupAnswer = UNAVAILABLE): ActivityDependencies {
  const adapter = { ...sandboxProvider, write: async () => write, lookUp: async () => lookUp };
  return {
    pool: register.pool,
    providers: () => ({ connection: CONNECTION, adapter, credential: CREDENTIAL }),
    policy: () => SHIPPED_POLICY,
    desk: DESK.verifier,
    worker: 'w-1',
    logger: createLogger('worker', 'trace', { write: (line) => void lines.push(line) }),
    metrics,
    tracing: NO_TRACING,
  };
}

/** A claimed payment and what its workflow would hand to activities. */
async function payment() {
  const wanted = claimOf();
  const { accountId, kind, kindVersion, operationId } = wanted.operation;
  const command = { ...wanted.operation.command, memo: 'planted memo', customer_id: 'cus_planted' };
  const fingerprint = fingerprintOf({ accountId, kind, kindVersion, command });
  const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`;
  await claim(register.pool, {
    ...wanted,
    operation: { ...wanted.operation, command, fingerprint, traceparent },
  });
  const { plan } = (await stored(register, operationId)).operation;
  return { operation_id: operationId, account_id: accountId, kind, fingerprint, plan };
}

type Input = Awaited<ReturnType<typeof payment>>;

const sendOnce = async (input: Input, write: WriteOutcome) =>
  send(worker(write), input, await stored(register, input.operation_id), 'dispatch');

const lookOnce = (input: Input, answer: LookupAnswer) =>
  createActivities(worker(LOST, answer)).lookUpOutcome(input);

const value = async (name: string, labels?: Readonly<Record<string, string>>) =>
  valueOf(samplesOf(await metrics.registry.metrics()), `holdfast_${name}`, labels);

const PLACE = { kind: 'payment', adapter: 'sandbox' };

describe('calls to providers', () => {
  it.each([
    ['succeeded', OUTCOMES.succeeded],
    ['failed', OUTCOMES.failed],
    ['not_sent', REFUSED],
    ['lost_answer', LOST],
    ['timeout', TIMED_OUT],
  ])('are counted as %s', async (outcome, answer) => {
    await sendOnce(await payment(), answer);
    const all = { ...PLACE, call: 'write' };
    expect(await value('provider_calls_total', { ...all, outcome })).toBe(1);
    expect(await value('provider_calls_total', all)).toBe(1);
    expect(await value('provider_call_duration_seconds_count', { call: 'write' })).toBe(1);
  });

  it('count lookups apart from writes', async () => {
    const input = await payment();
    await sendOnce(input, LOST);
    await lookOnce(input, { status: 'unavailable', evidence: { code: 'deadline_exceeded' } });
    const lookups = { ...PLACE, call: 'lookup' };
    expect(await value('provider_calls_total', { ...lookups, outcome: 'timeout' })).toBe(1);
    expect(await value('provider_calls_total', { call: 'write' })).toBe(1);
  });
});

describe('execution time and retries', () => {
  it('are observed once for an operation that settles at its first attempt', async () => {
    await sendOnce(await payment(), OUTCOMES.succeeded);
    const labels = { ...PLACE, state: 'SUCCEEDED' };
    expect(await value('execution_duration_seconds_count', labels)).toBe(1);
    expect(await value('operation_retries_bucket', { ...PLACE, le: '0' })).toBe(1);
  });

  it('count each attempt after the first as a retry', async () => {
    const input = await payment();
    await sendOnce(input, REFUSED);
    await sendOnce(input, REFUSED);
    expect(await value('operation_retries_count')).toBeUndefined();
    await sendOnce(input, OUTCOMES.succeeded);
    expect(await value('operation_retries_sum', PLACE)).toBe(2);
  });

  it('run by the database clock from the first intent, through reconciliation', async () => {
    const input = await payment();
    await sendOnce(input, LOST);
    expect(await value('execution_duration_seconds_count')).toBeUndefined();
    await register.shiftClock(120_000);
    await lookOnce(input, FOUND);
    await register.shiftClock(0);
    const took = await value('execution_duration_seconds_sum', { state: 'SUCCEEDED' });
    expect(took).toBeGreaterThanOrEqual(120);
    expect(took).toBeLessThan(150);
  });
});

const ended = (result: string) => value('reconciliations_total', { ...PLACE, result });

describe('reconciliations', () => {
  it('are counted as settled where evidence settled them', async () => {
    const input = await payment();
    await sendOnce(input, LOST);
    await lookOnce(input, UNAVAILABLE);
    expect(await value('reconciliations_total')).toBeUndefined();
    await lookOnce(input, FOUND);
    expect(await ended('settled')).toBe(1);
  });

  it('are counted as handed to a person, and not again when that person has the provider asked', async () => {
    const input = await payment();
    await sendOnce(input, LOST);
    await lookOnce(input, { ...FOUND, match: 'ambiguous' });
    expect(await ended('to_person')).toBe(1);
    await lookOnce(input, UNAVAILABLE);
    expect(await value('reconciliations_total')).toBe(1);
  });

  it.each([
    ['settled', undefined],
    ['by_person', 'acct_a.operator'],
  ])('are counted as %s where somebody else was quicker', async (result, resolvedBy) => {
    const input = await payment();
    await sendOnce(input, LOST);
    const change = {
      to: 'SUCCEEDED',
      result: { payment_id: 'p' },
      providerReference: 'p',
    } as const;
    await move(register, input.operation_id, { ...change, ...(resolvedBy && { resolvedBy }) });
    await lookOnce(input, UNAVAILABLE);
    expect(await ended(result)).toBe(1);
    expect(await value('operation_retries_count')).toBe(1);
  });

  it('that a resend settled count their operation once', async () => {
    const input = await payment();
    await sendOnce(input, LOST);
    await lookOnce(input, UNAVAILABLE);
    const read = await stored(register, input.operation_id);
    expect(read.operation.status).toBe('RECONCILING');
    await send(worker(OUTCOMES.succeeded), input, read, 'resend');
    await lookOnce(input, UNAVAILABLE);
    expect(await ended('settled')).toBe(1);
    expect(await value('execution_duration_seconds_count')).toBe(1);
    expect(await value('operation_retries_sum')).toBe(1);
  });

  it('of operations whose outcome never was open are not counted', async () => {
    const input = await payment();
    await sendOnce(input, OUTCOMES.succeeded);
    await lookOnce(input, UNAVAILABLE);
    expect(await value('reconciliations_total')).toBeUndefined();
  });
});

const fail = () => {
  throw new Error('cannot count');
};

const logged = (message: string) =>
  lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === message);

describe('the worker’s log', () => {
  it('follows an operation with every attribute that applies', async () => {
    const input = await payment();
    await sendOnce(input, TIMED_OUT);
    await lookOnce(input, FOUND);
    const { operation } = await stored(register, input.operation_id);
    const identity = {
      operation_id: input.operation_id,
      idempotency_key: operation.idempotencyKey,
      agent_id: 'acct_a.agent',
      trace_id: TRACE,
      connection: 'sandbox_acct_a',
      attempt_number: 1,
    };
    const duration = { execution_duration_ms: expect.any(Number) };
    expect(logged('attempt begun')).toMatchObject([
      { ...identity, state_transition: 'PENDING -> IN_PROGRESS' },
    ]);
    expect(logged('attempt answered')).toMatchObject([
      {
        ...identity,
        ...duration,
        outcome: 'unknown',
        reason: 'lost_answer',
        state_transition: 'IN_PROGRESS -> UNKNOWN',
      },
    ]);
    expect(logged('looked up')).toMatchObject([
      {
        ...identity,
        ...duration,
        lookup: 'found',
        provider_reference: 'pay_found',
        state_transition: 'RECONCILING -> SUCCEEDED',
      },
    ]);
  });

  it('tells of an answer that its dispatch could not store', async () => {
    const input = await payment();
    await begin(register, input.operation_id);
    const activities = createActivities(worker(LOST));
    expect(await activities.recordOutcome(input, 1, OUTCOMES.succeeded)).toMatchObject({
      next: 'done',
      row: { status: 'SUCCEEDED', unknown_since: null },
    });
    expect(logged('answer recorded late')).toMatchObject([
      { operation_id: input.operation_id, trace_id: TRACE, attempt_number: 1, state: 'SUCCEEDED' },
    ]);
  });

  it('holds neither payload nor credential', async () => {
    const input = await payment();
    await sendOnce(input, TIMED_OUT);
    await lookOnce(input, FOUND);
    expect(lines).not.toEqual([]);
    expect(lines.join('')).not.toMatch(/planted|amount/);
  });

  it('and its counting can’t cost the answer of a provider', async () => {
    const input = await payment();
    vi.spyOn(metrics.providerCalls, 'inc').mockImplementation(fail);
    vi.spyOn(metrics.retries, 'observe').mockImplementation(fail);
    expect(await sendOnce(input, OUTCOMES.succeeded)).toMatchObject({ next: 'done' });
    expect((await stored(register, input.operation_id)).operation.status).toBe('SUCCEEDED');
    expect(logged('not counted')).toHaveLength(2);
  });
});

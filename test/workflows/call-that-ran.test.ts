// Engine fact 1: a call that ran can surface in the workflow as almost any failure. None of them says that nothing happened.
// Engine fact 5: the engine giving up on an activity doesn't stop its code, and what it finds out later counts.
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  startInProcessWorker,
  type InProcessWorker,
  type InTheWay,
} from '../support/in-process-worker.ts';
import { freshKey, startSystem, type RunningSystem } from '../support/running-system.ts';
import { until } from '../support/until.ts';

let system: RunningSystem;

beforeAll(async () => {
  system = await startSystem({ workers: 0 });
  for (const dispatch of ['local', 'regular']) {
    await system.planFor(`cus-${dispatch}`, { dispatch });
  }
});
afterAll(() => system.stop());

const SETTLED_BY_ASKING = ['PENDING', 'IN_PROGRESS', 'UNKNOWN', 'RECONCILING', 'SUCCEEDED'];
const DISPATCHES = ['local', 'regular'] as const;

async function withWorker(inTheWay: InTheWay, work: (worker: InProcessWorker) => Promise<void>) {
  const worker = await startInProcessWorker(system, inTheWay);
  try {
    await work(worker);
  } finally {
    await worker.stop();
  }
}

async function submitEach(names: readonly string[]) {
  return Promise.all(
    names.flatMap((name) =>
      DISPATCHES.map(async (dispatch) => {
        const key = `${name}-${dispatch}-${freshKey()}`;
        const { body } = await system.submit({ key, customer_id: `cus-${dispatch}` });
        return { name, key, dispatch, operationId: body.operation_id };
      }),
    ),
  );
}

/** What the SDK makes of a call that ran, and what our own code could. */
const FAILURES: Readonly<Record<string, () => Error>> = {
  WorkerShutdown: () => ApplicationFailure.create({ type: 'WorkerShutdown', message: 'ended' }),
  PayloadsTooLarge: () => ApplicationFailure.nonRetryable('too large', 'PayloadsTooLarge'),
  ValueError: () => ApplicationFailure.create({ type: 'ValueError', message: 'not convertible' }),
  our_own: () => ApplicationFailure.nonRetryable('definitely not', 'provider_declined'),
  cancelled: () => new CancelledFailure('cancelled'),
  TypeError: () => new TypeError('x is not a function'),
};

const named = <T>(table: Readonly<Record<string, T>>, token: string): T | undefined =>
  Object.entries(table).find(([name]) => token.startsWith(`${name}-`))?.[1];

describe('a call that reached the provider', () => {
  it('is settled by asking, never FAILED, whichever failure the activity ends with before its outcome is stored', async () => {
    await withWorker(
      {
        adapter: (real) => ({
          ...real,
          async write(contact) {
            await real.write(contact);
            throw named(FAILURES, contact.token)?.() ?? new Error('no failure');
          },
        }),
      },
      async () => {
        for (const one of await submitEach(Object.keys(FAILURES))) {
          const { key, operationId, name, dispatch } = one;
          const { status } = await system.atRest(operationId, 20_000).catch(() => ({
            status: 'never settled: no run is left',
          }));
          expect({ name, dispatch, status }).toEqual({ name, dispatch, status: 'SUCCEEDED' });
          expect(await system.statesOf(operationId)).toEqual(SETTLED_BY_ASKING);
          expect(await system.provider.sawOf(operationId)).toMatchObject({
            effects: 1,
            writes: 1,
            tokens: [key],
          });
          expect(await system.untilClosed(system.runOf(key).workflowId)).toBe('COMPLETED');
        }
      },
    );
  });

  it('keeps its stored outcome, whatever the engine hears of it', async () => {
    // The last one is made by the SDK itself: a result that can't be converted.
    const results: Readonly<Record<string, () => unknown>> = {
      ...Object.fromEntries(
        Object.entries(FAILURES).map(([name, make]) => [
          name,
          () => {
            throw make();
          },
        ]),
      ),
      bigint: () => ({ next: 'done', amount: 1n }),
    };
    const seen = new Set<string>();
    await withWorker(
      {
        activities: (real) => ({
          ...real,
          async dispatch(input, attempt) {
            const step = await real.dispatch(input, attempt);
            if (seen.has(input.operation_id)) return step;
            seen.add(input.operation_id);
            const { rows } = await system.pool.query<{ idempotency_key: string }>(
              'select idempotency_key from operations where operation_id = $1',
              [input.operation_id],
            );
            return named(results, rows[0]?.idempotency_key ?? '')?.() as typeof step;
          },
        }),
      },
      async () => {
        for (const one of await submitEach(Object.keys(results))) {
          const { key, operationId, name, dispatch } = one;
          expect(await system.atRest(operationId)).toMatchObject({ status: 'SUCCEEDED' });
          const end = await system.untilClosed(system.runOf(key).workflowId);
          expect({ name, dispatch, end }).toEqual({ name, dispatch, end: 'COMPLETED' });
          expect(await system.statesOf(operationId)).toEqual([
            'PENDING',
            'IN_PROGRESS',
            'SUCCEEDED',
          ]);
          expect(await system.provider.sawOf(operationId)).toMatchObject({ effects: 1, writes: 1 });
        }
      },
    );
  });

  it('is not FAILED when its worker is shut down without grace', async () => {
    const worker = await startInProcessWorker(system, { options: { shutdownGraceTime: 0 } });
    const operations = await Promise.all(
      DISPATCHES.map(async (dispatch) => {
        const key = freshKey();
        await system.provider.script(key, { mode: 'delay_then_ok', delay_ms: 2_000 });
        const { body } = await system.submit({ key, customer_id: `cus-${dispatch}` });
        await system.untilWritten(body.operation_id);
        return { key, operationId: body.operation_id };
      }),
    );
    await worker.stop();
    await withWorker({}, async () => {
      for (const { key, operationId } of operations) {
        expect(await system.atRest(operationId)).toMatchObject({ status: 'SUCCEEDED' });
        expect(await system.provider.sawOf(operationId)).toMatchObject({
          effects: 1,
          writes: 1,
          tokens: [key],
        });
      }
    });
  });
});

describe('a result that comes after the engine gave up', () => {
  it.each(DISPATCHES)(
    'is written to the ledger and settles the operation (%s dispatch)',
    async (dispatch) => {
      const late = new Map<string, Promise<unknown>>();
      await withWorker(
        {
          adapter: (real) => ({
            ...real,
            async write(contact) {
              const outcome = await real.write(contact);
              await untilReconciling(contact.operationId);
              return outcome;
            },
          }),
          activities: (real) => ({
            ...real,
            async dispatch(input, attempt) {
              const result = real.dispatch(input, attempt);
              if (late.has(input.operation_id)) return result;
              late.set(input.operation_id, result);
              // As at a start-to-close timeout: the engine hears of a failure, the code goes on.
              await system.untilWritten(input.operation_id);
              throw ApplicationFailure.create({ type: 'timeout', message: 'the engine gave up' });
            },
          }),
        },
        async () => {
          const key = freshKey();
          // Nothing but the late answer can settle it.
          await system.provider.lookups(key, 'down');
          const { body } = await system.submit({ key, customer_id: `cus-${dispatch}` });
          const rest = await system.atRest(body.operation_id, 20_000);
          expect(rest).toMatchObject({ status: 'SUCCEEDED', provider: { token: key } });
          expect(rest.attempts.map((one) => one.outcome)).toEqual(['succeeded']);
          expect(await system.statesOf(body.operation_id)).toEqual(SETTLED_BY_ASKING);
          expect(await system.provider.sawOf(body.operation_id)).toMatchObject({
            effects: 1,
            writes: 1,
          });
          const reconciliation = system.reconciliationOf(body.operation_id).workflowId;
          expect(await system.untilClosed(reconciliation)).toBe('COMPLETED');
          await Promise.allSettled(late.values());
        },
      );
    },
  );
});

/** Gives up in silence: then the operation itself shows that it never came to that. */
const untilReconciling = (operationId: string) =>
  until(
    'reconciliation has begun',
    async () => (await system.statusOf(operationId)) === 'RECONCILING',
    15_000,
  ).catch(() => undefined);

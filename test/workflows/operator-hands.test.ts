// What somebody with access to the engine can do: start, reset, terminate, cancel. The register decides what is left to do.
import { randomUUID } from 'node:crypto';
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshKey, startSystem, type RunningSystem } from '../support/running-system.ts';
import { until } from '../support/until.ts';

let system: RunningSystem;

beforeAll(async () => {
  system = await startSystem();
  for (const dispatch of ['local', 'regular']) {
    await system.planFor(`cus-${dispatch}`, { dispatch });
  }
});
afterAll(() => system.stop());

const DISPATCHES = ['local', 'regular'] as const;

/** As `temporal workflow reset --type FirstWorkflowTask`; answers the new run's id. */
async function reset(workflowId: string): Promise<string> {
  const { events } = await system.engine.workflow.getHandle(workflowId).fetchHistory();
  const first = events?.find((one) => one.workflowTaskCompletedEventAttributes);
  const { runId } = await system.engine.workflowService.resetWorkflowExecution({
    namespace: system.temporal.namespace,
    workflowExecution: { workflowId },
    reason: 'a test',
    requestId: randomUUID(),
    workflowTaskFinishEventId: first?.eventId ?? null,
  });
  return runId;
}

async function inputOf(workflowId: string): Promise<unknown> {
  const { events } = await system.engine.workflow.getHandle(workflowId).fetchHistory();
  const [payload] = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  return JSON.parse(Buffer.from(payload?.data ?? []).toString('utf8'));
}

describe.concurrent('engine fact 2: a start with USE_EXISTING', () => {
  it('attaches another request to a running one, so the register refuses it', async () => {
    const key = freshKey();
    const held = { key, amount: '2000.00' };
    const { body } = await system.submit(held);
    const { workflowId } = system.runOf(key);
    await until('its run is open', async () =>
      system
        .runOf(key)
        .describe()
        .then(
          ({ status }) => status.name === 'RUNNING',
          () => false,
        ),
    );
    const { runId } = await system.runOf(key).describe();
    const attached = await system.engine.workflow.start('anotherType', {
      taskQueue: system.temporal.taskQueue,
      workflowId,
      args: ['another request'],
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    });
    expect(attached.firstExecutionRunId).toBe(runId);

    const other = await system.submit({ ...held, amount: '2000.01' });
    expect(other).toMatchObject({
      status: 409,
      body: { code: 'fingerprint_mismatch', operation_id: body.operation_id },
    });
    expect(other.text).not.toContain('2000.0');
    const { rows } = await system.pool.query(
      'select 1 from operations where idempotency_key = $1',
      [key],
    );
    expect(rows).toHaveLength(1);
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject({ writes: 0 });
  });
});

describe.concurrent('engine fact 4: a reset run dispatches again', () => {
  it.each(DISPATCHES)(
    'after its success: it finds that and sends nothing (%s dispatch)',
    async (dispatch) => {
      const key = freshKey();
      const { body, text } = await system.submit({
        key,
        customer_id: `cus-${dispatch}`,
        wait: 30,
      });
      expect(body.status).toBe('SUCCEEDED');
      const { workflowId } = system.runOf(key);
      await system.untilClosed(workflowId);
      const runId = await reset(workflowId);
      expect(await untilRunClosed(workflowId, runId)).toBe('COMPLETED');
      expect(await dispatchesOf(workflowId, runId)).toBeGreaterThan(0);
      expect(await system.provider.sawOf(body.operation_id)).toMatchObject({
        effects: 1,
        writes: 1,
        tokens: [key],
        lookups: 0,
      });
      expect((await system.read(body.operation_id)).text).toBe(text);
    },
  );

  it.each(DISPATCHES)(
    'while its attempt is under way: it finds the intent and asks (%s dispatch)',
    async (dispatch) => {
      const key = freshKey();
      await system.provider.script(key, { mode: 'delay_then_ok', delay_ms: 2_000 });
      const { body } = await system.submit({ key, customer_id: `cus-${dispatch}` });
      await system.untilWritten(body.operation_id);
      const { workflowId } = system.runOf(key);
      await until('its first task is recorded', async () => {
        const { events } = await system.runOf(key).fetchHistory();
        return events?.some((one) => one.workflowTaskCompletedEventAttributes);
      });
      const runId = await reset(workflowId);
      expect(await system.atRest(body.operation_id)).toMatchObject({ status: 'SUCCEEDED' });
      expect(await untilRunClosed(workflowId, runId)).toBe('COMPLETED');
      expect(await system.provider.sawOf(body.operation_id)).toMatchObject({
        effects: 1,
        writes: 1,
        tokens: [key],
        mostInFlight: 1,
      });
    },
  );
});

describe.concurrent('engine fact 4: a terminated run', () => {
  it('that never sent anything is started anew by the sweep', async () => {
    const key = freshKey();
    const { body } = await system.submit({ key, amount: '2000.00' });
    const { workflowId } = system.runOf(key);
    await until('its run is open', () =>
      system
        .runOf(key)
        .describe()
        .catch(() => undefined),
    );
    await system.runOf(key).terminate('a test');
    await system.sweepNow(body.operation_id);
    await until('it runs again', async () => {
      return (await system.runOf(key).describe()).status.name === 'RUNNING';
    });
    expect(await inputOf(workflowId)).toMatchObject({ operation_id: body.operation_id });
    expect(await system.statusOf(body.operation_id)).toBe('AWAITING_APPROVAL');
  });

  it.each(['commit_then_timeout', 'timeout_no_commit', 'accepted_async'])(
    'that had sent something is reconciled by the sweep (%s)',
    async (mode) => {
      const key = freshKey();
      await system.provider.script(key, mode, 'ok');
      const { body } = await system.submit({ key });
      await system.untilWritten(body.operation_id);
      await system.runOf(key).terminate('a test');
      if (mode === 'accepted_async') {
        // The worker's own call ends whatever the engine was told.
        await until('the answer is stored', async () => {
          const [attempt] = (await system.read(body.operation_id)).body.attempts;
          return attempt?.outcome === 'pending';
        });
        await system.provider.settle(key, 'done');
      }
      await system.sweepNow(body.operation_id);
      expect(await system.atRest(body.operation_id)).toMatchObject({ status: 'SUCCEEDED' });
      expect(await system.provider.sawOf(body.operation_id)).toMatchObject({
        effects: 1,
        tokens: [key],
        bodies: 1,
        mostInFlight: 1,
      });
    },
  );
});

describe.concurrent('engine fact 9: the reconciling child', () => {
  it('runs on when its parent is terminated, and the sweep starts no second one', async () => {
    const one = await reconciling();
    await system.runOf(one.key).terminate('a test');
    await system.sweepNow(one.operationId);
    await system.untilLookedUp(one.operationId, 3);
    expect(await one.child.describe()).toMatchObject({
      runId: one.runId,
      status: { name: 'RUNNING' },
    });
    await settles(one);
    expect(await one.child.describe()).toMatchObject({ runId: one.runId });
  });

  it('is handed over to, not started again, by a parent that was reset', async () => {
    const one = await reconciling();
    const { workflowId } = system.runOf(one.key);
    const runId = await reset(workflowId);
    await until('the new run has tried to start it', async () => {
      const { events } = await system.engine.workflow.getHandle(workflowId, runId).fetchHistory();
      return events?.some((event) => event.startChildWorkflowExecutionInitiatedEventAttributes);
    });
    expect(await one.child.describe()).toMatchObject({ runId: one.runId });
    await settles(one);
    expect(await untilRunClosed(workflowId, runId)).toBe('COMPLETED');
  });

  it('is started again by the sweep when it was terminated itself', async () => {
    const one = await reconciling();
    await one.child.terminate('a test');
    expect(await system.untilClosed(system.runOf(one.key).workflowId)).toBe('COMPLETED');
    await system.sweepNow(one.operationId);
    await until('another run of it is open', async () => {
      const { runId, status } = await system.reconciliationOf(one.operationId).describe();
      return runId !== one.runId && status.name === 'RUNNING';
    });
    await settles(one);
  });
});

describe.concurrent('a cancellation from outside, before anything was sent', () => {
  it('cancels the operation and gives its invoice back', async () => {
    const key = freshKey();
    const { body } = await system.submit({ key, amount: '2000.00' });
    await until('its run is open', () =>
      system
        .runOf(key)
        .describe()
        .catch(() => undefined),
    );
    await system.runOf(key).cancel();
    expect(await system.atRest(body.operation_id)).toMatchObject({ status: 'CANCELED' });
    const next = await system.submit({ invoice_id: `inv-${key}`, wait: 30 });
    expect(next.body.status).toBe('SUCCEEDED');
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject({ writes: 0 });
  });
});

describe.concurrent('a cancellation from outside, once something was sent', () => {
  it('changes nothing: the call ends and its outcome stands', async () => {
    const key = freshKey();
    await system.provider.script(key, { mode: 'delay_then_ok', delay_ms: 1_500 });
    const { body } = await system.submit({ key });
    await system.untilWritten(body.operation_id);
    await system.runOf(key).cancel();
    expect(await system.atRest(body.operation_id)).toMatchObject({ status: 'SUCCEEDED' });
    expect(await system.statesOf(body.operation_id)).toEqual([
      'PENDING',
      'IN_PROGRESS',
      'SUCCEEDED',
    ]);
  });

  it('leaves reconciliation running', async () => {
    const key = freshKey();
    await system.provider.script(key, 'commit_then_500');
    await system.provider.lookups(key, 'down');
    const { body } = await system.submit({ key });
    await system.untilLookedUp(body.operation_id);
    await system.runOf(key).cancel();
    await system.reconciliationOf(body.operation_id).cancel();
    await system.provider.lookups(key, 'up');
    expect(await system.atRest(body.operation_id)).toMatchObject({ status: 'SUCCEEDED' });
  });
});

describe.concurrent('engine fact 6: a run that can not do its work', () => {
  it('is not wedged by an activity that throws, and goes on when the cause is gone', async () => {
    const key = freshKey();
    const db = await system.pool.connect();
    await db.query('begin');
    // Frozen at the claim, so a connection that is configured nowhere is a worker with a wrong configuration.
    await db.query(`create or replace function test_connection() returns trigger language plpgsql
      as $$ begin new.connection := 'gone'; return new; end $$`);
    await db.query(`create or replace trigger test_connection before insert on operations
      for each row when (new.idempotency_key = '${key}') execute function test_connection()`);
    await db.query('commit');
    db.release();
    const { body } = await system.submit({ key });
    await until('the dispatch failed twice', async () => {
      const { events } = await system
        .runOf(key)
        .fetchHistory()
        .catch(() => ({ events: [] }));
      return (events ?? []).filter((one) => one.timerFiredEventAttributes).length >= 2;
    });
    expect(await system.statusOf(body.operation_id)).toBe('PENDING');
    expect(await failedTasksOf(system.runOf(key).workflowId)).toBe(0);
    await system.pool.query(
      `update operations set connection = 'sandbox_acct_a' where operation_id = $1`,
      [body.operation_id],
    );
    expect(await system.atRest(body.operation_id)).toMatchObject({ status: 'SUCCEEDED' });
  });

  it.each(['executeOperation', 'reconcileOperation'])(
    '%s ends by itself when its operation is not in the register',
    async (type) => {
      const { body } = await system.submit({ wait: 30 });
      const input = (await inputOf(system.runOf(body.idempotency_key).workflowId)) as object;
      const workflowId = `missing-${freshKey()}`;
      await system.engine.workflow.start(type, {
        taskQueue: system.temporal.taskQueue,
        workflowId,
        args: [{ ...input, operation_id: 'op_missing' }],
      });
      const run = system.engine.workflow.getHandle(workflowId);
      const end = await until(
        'the run has ended',
        async () => {
          const { status } = await run.describe();
          return status.name !== 'RUNNING' && status.name;
        },
        10_000,
      ).catch(() => 'RUNNING');
      if (end === 'RUNNING') await run.terminate();
      expect(['COMPLETED', 'FAILED']).toContain(end);
      expect(await failedTasksOf(workflowId)).toBe(0);
    },
  );
});

/** An operation whose reconciliation runs and finds no answer. */
async function reconciling() {
  const key = freshKey();
  await system.provider.script(key, 'commit_then_500');
  await system.provider.lookups(key, 'down');
  const { body } = await system.submit({ key });
  await system.untilLookedUp(body.operation_id);
  const child = system.reconciliationOf(body.operation_id);
  const { runId } = await child.describe();
  return { key, operationId: body.operation_id, child, runId };
}

/** Lets lookups answer, and sees the operation settled by one. */
async function settles({ key, operationId }: { key: string; operationId: string }) {
  await system.provider.lookups(key, 'up');
  expect(await system.atRest(operationId)).toMatchObject({ status: 'SUCCEEDED' });
  expect(await system.provider.sawOf(operationId)).toMatchObject({ effects: 1, writes: 1 });
}

async function failedTasksOf(workflowId: string): Promise<number> {
  const { events } = await system.engine.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).filter((one) => one.workflowTaskFailedEventAttributes).length;
}

async function untilRunClosed(workflowId: string, runId: string): Promise<string> {
  return until(`run ${runId} has ended`, async () => {
    const { status } = await system.engine.workflow.getHandle(workflowId, runId).describe();
    return status.name !== 'RUNNING' && status.name;
  });
}

/** Dispatches in a run's history, regular or local. */
async function dispatchesOf(workflowId: string, runId: string): Promise<number> {
  const { events } = await system.engine.workflow.getHandle(workflowId, runId).fetchHistory();
  return (events ?? []).filter(
    (one) =>
      one.activityTaskScheduledEventAttributes?.activityType?.name === 'dispatch' ||
      one.markerRecordedEventAttributes?.markerName === 'core_local_activity',
  ).length;
}

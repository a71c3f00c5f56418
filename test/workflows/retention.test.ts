// Engine fact 3: after retention the engine has forgotten an id and starts it again. The register has not.
import { WorkflowIdReusePolicy, WorkflowNotFoundError } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshKey, startSystem, type RunningSystem } from '../support/running-system.ts';
import { startForgetfulTemporal } from '../support/short-retention.ts';
import { until } from '../support/until.ts';

let temporal: Awaited<ReturnType<typeof startForgetfulTemporal>>;
let system: RunningSystem;

beforeAll(async () => {
  temporal = await startForgetfulTemporal(2);
  system = await startSystem({ temporal });
});
afterAll(async () => {
  await system.stop();
  await temporal.stop();
});

describe('an operation that the engine has forgotten', () => {
  it('is replayed when its key repeats, and a run that starts under its id sends nothing', async () => {
    const key = freshKey();
    const { body, text } = await system.submit({ key, wait: 30 });
    expect(body.status).toBe('SUCCEEDED');
    const run = system.runOf(key);
    const { events } = await run.fetchHistory();
    const [payload] = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    const input: unknown = JSON.parse(Buffer.from(payload?.data ?? []).toString('utf8'));
    await until('the engine has forgotten the run', async () =>
      run.describe().then(
        () => false,
        (error: unknown) => error instanceof WorkflowNotFoundError,
      ),
    );

    expect(await system.submit({ key })).toMatchObject({ status: 200, text });

    // The hole itself: what "reject duplicates" refuses before retention, it starts after it.
    const again = await system.engine.workflow.start('executeOperation', {
      taskQueue: system.temporal.taskQueue,
      workflowId: run.workflowId,
      args: [input],
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    });
    await again.result();
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject({
      effects: 1,
      writes: 1,
      tokens: [key],
    });
    expect((await system.read(body.operation_id)).text).toBe(text);
  });
});

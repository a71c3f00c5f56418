// Postgres goes away while the provider works. The answer is not lost with it: it is stored as soon as that is possible again.
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { freshKey, RIG, startSystem, type RunningSystem } from '../support/running-system.ts';
import { until } from '../support/until.ts';

let system: RunningSystem;
let cluster: Client;

beforeAll(async () => {
  system = await startSystem();
  cluster = new Client({ connectionString: inject('postgresUrl') });
  await cluster.connect();
});
afterAll(async () => {
  await allowConnections(true);
  await cluster.end();
  await system.stop();
});

const databaseName = () => new URL(system.databaseUrl).pathname.slice(1);

async function cutConnections(): Promise<void> {
  const { rowCount } = await cluster.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = $1 and application_name <> $2`,
    [databaseName(), RIG],
  );
  expect(rowCount).toBeGreaterThan(0);
}

async function allowConnections(allowed: boolean): Promise<void> {
  await cluster.query(`alter database ${databaseName()} with allow_connections ${allowed}`);
}

async function underWay(dispatch: string) {
  const key = freshKey();
  await system.planFor(`cus-${key}`, { dispatch });
  await system.provider.script(key, { mode: 'delay_then_ok', delay_ms: 1_500 });
  const { body } = await system.submit({ key, customer_id: `cus-${key}` });
  await system.untilWritten(body.operation_id);
  return { key, operationId: body.operation_id };
}

const STRAIGHT = ['PENDING', 'IN_PROGRESS', 'SUCCEEDED'];

describe.each(['local', 'regular'])('while the provider works (%s dispatch)', (dispatch) => {
  it('connections that are cut leave one effect, and its outcome is stored', async () => {
    const { key, operationId } = await underWay(dispatch);
    await cutConnections();
    expect(await system.atRest(operationId)).toMatchObject({ status: 'SUCCEEDED' });
    expect(await system.statesOf(operationId)).toEqual(STRAIGHT);
    expect(await system.provider.sawOf(operationId)).toMatchObject({
      effects: 1,
      writes: 1,
      tokens: [key],
      lookups: 0,
    });
  });

  it('a longer outage leaves the answer with the workflow, which records it afterwards', async () => {
    const { key, operationId } = await underWay(dispatch);
    await allowConnections(false);
    await cutConnections();
    await until('the answer is being recorded', () => isRecording(key));
    await allowConnections(true);
    expect(await system.atRest(operationId)).toMatchObject({ status: 'SUCCEEDED' });
    expect(await system.statesOf(operationId)).toEqual(STRAIGHT);
    expect(await system.provider.sawOf(operationId)).toMatchObject({
      effects: 1,
      writes: 1,
      tokens: [key],
      lookups: 0,
    });
  });
});

describe('before anything is sent', () => {
  it('a database that is away holds operations back, and they go on when it is back', async () => {
    const [worker] = system.workers;
    await worker?.kill();
    const { body } = await system.submit();
    await allowConnections(false);
    await cutConnections();
    await system.startWorker();
    await until('the dispatch was tried in vain', () =>
      system.started('worker').some((one) => one.fullLog().includes('is not currently accepting')),
    );
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject({ writes: 0 });
    await allowConnections(true);
    expect(await system.atRest(body.operation_id)).toMatchObject({ status: 'SUCCEEDED' });
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject({ effects: 1, writes: 1 });
  });
});

async function isRecording(key: string): Promise<boolean> {
  const { raw } = await system.runOf(key).describe();
  return (raw.pendingActivities ?? []).some(
    ({ activityType, attempt }) => activityType?.name === 'recordOutcome' && (attempt ?? 0) > 1,
  );
}

// What an operator sees in Temporal Web: search attributes and current details of real runs.
import { setTimeout as pause } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOwnTemporal } from '../support/own-servers.ts';
import { freshKey, startSystem, type RunningSystem } from '../support/running-system.ts';
import { until } from '../support/until.ts';

let system: RunningSystem;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system.stop());

/** Ids of the runs that a list shows. */
async function listed(query: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { workflowId } of system.engine.workflow.list({ query })) ids.push(workflowId);
  return ids;
}

const untilListed = (workflowId: string, query: string): Promise<boolean> =>
  until(`${workflowId} is found by ${query}`, async () =>
    (await listed(`WorkflowId = '${workflowId}' AND ${query}`)).includes(workflowId),
  );

/** As Temporal Web asks for them. */
async function detailsOf(run: WorkflowHandle): Promise<string> {
  const metadata = await run.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  return metadata.currentDetails ?? '';
}

const untilDetails = (run: WorkflowHandle, text: RegExp): Promise<string> =>
  until(`${run.workflowId} says ${text}`, async () => {
    const details = await detailsOf(run).catch(() => '');
    return text.test(details) && details;
  });

describe.concurrent('an operation whose answer was lost', () => {
  it('is found by OperationStatus = "UNKNOWN" until it is settled, and then by SUCCEEDED', async () => {
    const key = freshKey();
    await system.provider.script(key, 'commit_then_500');
    await system.provider.lookups(key, 'down');
    const { body } = await system.submit({ key });
    const run = system.runOf(key);
    const reconciliation = system.reconciliationOf(body.operation_id);
    await untilListed(
      run.workflowId,
      `OperationStatus = "UNKNOWN" AND OperationKind = "payment" AND AccountId = "acct_a" AND Connection = "sandbox_acct_a" AND UnknownSince > "2020-01-01T00:00:00Z"`,
    );
    await untilListed(
      reconciliation.workflowId,
      `OperationStatus = "RECONCILING" AND Connection = "sandbox_acct_a" AND UnknownSince IS NOT NULL`,
    );
    expect(await untilDetails(run, /UNKNOWN/)).toContain('Do not submit it again');
    expect(await untilDetails(reconciliation, /RECONCILING/)).toContain(body.operation_id);
    await system.provider.lookups(key, 'up');
    await system.atRest(body.operation_id);
    for (const { workflowId } of [run, reconciliation]) {
      await untilListed(workflowId, `OperationStatus = "SUCCEEDED"`);
    }
  });

  it('is found by NEEDS_REVIEW where a person must decide', async () => {
    const key = freshKey();
    await system.provider.script(key, 'commit_then_500');
    await system.provider.lookups(key, 'two_matches');
    const { body } = await system.submit({ key });
    await untilListed(system.runOf(key).workflowId, `OperationStatus = "NEEDS_REVIEW"`);
    const details = await untilDetails(system.reconciliationOf(body.operation_id), /NEEDS_REVIEW/);
    expect(details).toContain('docs/runbook.md#needs_review');
  });
});

describe.concurrent('an operation that waits', () => {
  it('for a person says so, and what an operator can do', async () => {
    const key = freshKey();
    const { body } = await system.submit({ key, amount: '7654.32', customer_id: 'cus_planted' });
    const run = system.runOf(key);
    await untilListed(run.workflowId, `OperationStatus = "AWAITING_APPROVAL"`);
    const details = await untilDetails(run, /AWAITING_APPROVAL/);
    expect(details).toContain(body.operation_id);
    expect(details).toMatch(/approver.*Cancel this run/s);
    expect(details).not.toMatch(/planted|7654/);
    await run.cancel();
    await untilListed(run.workflowId, `OperationStatus = "CANCELED"`);
  });
});

describe.concurrent('a payment that simply succeeds', () => {
  it('takes no workflow task more for being seen', async () => {
    const key = freshKey();
    await system.submit({ key, wait: 30 });
    const { workflowId } = system.runOf(key);
    expect(await system.untilClosed(workflowId)).toBe('COMPLETED');
    const { events } = await system.runOf(key).fetchHistory();
    const tasks = (events ?? []).filter((one) => one.workflowTaskCompletedEventAttributes);
    const shown = (events ?? []).filter((one) => one.upsertWorkflowSearchAttributesEventAttributes);
    expect(tasks).toHaveLength(1);
    expect(shown).toHaveLength(1);
    await untilListed(workflowId, `OperationStatus = "SUCCEEDED"`);
  });
});

describe('a namespace without the search attributes', () => {
  it('has operations done all the same, and gets them from the next worker that may', async () => {
    const engine = await startOwnTemporal({ searchAttributes: false });
    const temporal = { address: engine.address, namespace: 'default' };
    const other = await startSystem({ temporal, workers: 0, apis: 0 });
    try {
      expect(await attributesIn(other)).toEqual([]);
      // Taken for another type: nobody can register what is wanted.
      await register(other, 'OperationStatus', INT);
      const worker = await other.startWorker();
      const api = await other.startApi();
      const key = freshKey();
      const { body } = await other.submit({ key, api: api.url, wait: 30 });
      expect(body.status).toBe('SUCCEEDED');
      // A run that names an attribute which its namespace lacks would never get on.
      expect(await other.untilClosed(other.runOf(key).workflowId)).toBe('COMPLETED');
      for (const process of [worker, api]) {
        const log = process.fullLog();
        expect(log).toContain('temporal operator search-attribute create --namespace default');
      }
      await other.engine.connection.operatorService.removeSearchAttributes({
        namespace: 'default',
        searchAttributes: ['OperationStatus'],
      });
      await pause(500);
      await other.startWorker();
      expect((await attributesIn(other)).toSorted()).toEqual([
        'AccountId',
        'Connection',
        'OperationKind',
        'OperationStatus',
        'UnknownSince',
      ]);
    } finally {
      await other.stop();
      await engine.end();
    }
  });
});

const INT = 3;

async function attributesIn({ engine }: RunningSystem): Promise<string[]> {
  const listing = await engine.connection.operatorService.listSearchAttributes({
    namespace: 'default',
  });
  const named = ['Account', 'Connection', 'Operation', 'Unknown'];
  return Object.keys(listing.customAttributes).filter((name) =>
    named.some((start) => name.startsWith(start)),
  );
}

async function register({ engine }: RunningSystem, name: string, type: number): Promise<void> {
  const searchAttributes = { [name]: type };
  await engine.connection.operatorService.addSearchAttributes({
    namespace: 'default',
    searchAttributes,
  });
}

// Records the histories that the replay suite holds every later version to: real runs, one for each way through the workflows. No test
// file; `npm run record:histories` runs it. Files of this version are replaced, those of older versions stay.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findTemporalCli } from '../../scripts/setup/temporal-cli.mjs';
import type { Mode } from '../support/provider-control.ts';
import {
  freshKey,
  startSystem,
  type OperationView,
  type RunningSystem,
} from '../support/running-system.ts';
import { until } from '../support/until.ts';

const FOLDER = new URL('histories/', import.meta.url);

interface Scenario {
  readonly name: string;
  /** Not beside others. */
  readonly alone?: true;
  readonly dispatch?: 'local' | 'regular';
  readonly modes: readonly Mode[];
  readonly amount?: string;
  readonly plan?: Readonly<Record<string, unknown>>;
  /** A refund of a payment that the provider doesn't show. */
  readonly refunds?: true;
  readonly ends: string;
  /** The runs whose histories are kept. */
  readonly keeps: readonly ('execute' | 'reconcile')[];
  /** What happens once the provider has the request. */
  readonly meanwhile?: (key: string, operationId: string) => Promise<void>;
}

let system: RunningSystem;
let cli: string;
let version: string;

const EXECUTE = ['execute'] as const;
const BOTH = ['execute', 'reconcile'] as const;
const QUICK = { reconcile: { send_window_ms: 3_500 } };

const setApprover = (change: string) =>
  system.pool.query(`update principals set ${change} where principal_id = 'acct_a.approver'`);
const untilOpen = (key: string) =>
  until('its run is open', () =>
    system
      .runOf(key)
      .describe()
      .catch(() => undefined),
  );

/** Whether the provider shows the payment that a refund is about. */
async function showPaymentOf({ command }: OperationView, mode: 'up' | 'down'): Promise<void> {
  const { body } = await system.read(String(command['payment_operation_id']));
  await system.provider.lookups(String(body.provider.reference), mode);
}

async function refundHidden(key: string, plan: object): Promise<OperationView> {
  const { body: payment } = await system.submit({ amount: '100.00', wait: 45 });
  const command = { payment_operation_id: payment.operation_id, amount: '50.00', currency: 'USD' };
  await system.planFor(payment.operation_id, { ...plan });
  await system.provider.lookups(String(payment.provider.reference), 'down');
  const { body } = await system.call('POST', '/agent/operations/refund', {
    person: 'agent',
    headers: { 'idempotency-key': key },
    body: { ...command, reason: 'a recording' },
  });
  return body as unknown as OperationView;
}

const SCENARIOS: readonly Scenario[] = [
  { name: 'success', modes: ['ok'], ends: 'SUCCEEDED', keeps: EXECUTE },
  {
    name: 'success-regular',
    dispatch: 'regular',
    modes: ['ok'],
    ends: 'SUCCEEDED',
    keeps: EXECUTE,
  },
  { name: 'decline', modes: ['decline'], ends: 'FAILED', keeps: EXECUTE },
  { name: 'unknown-succeeded', modes: ['commit_then_500'], ends: 'SUCCEEDED', keeps: BOTH },
  {
    name: 'unknown-succeeded-regular',
    dispatch: 'regular',
    modes: ['commit_then_timeout'],
    ends: 'SUCCEEDED',
    keeps: BOTH,
  },
  {
    name: 'resend',
    modes: ['timeout_no_commit', 'ok'],
    plan: QUICK,
    ends: 'SUCCEEDED',
    keeps: BOTH,
  },
  {
    name: 'resend-regular',
    dispatch: 'regular',
    modes: ['timeout_no_commit', 'ok'],
    plan: QUICK,
    ends: 'SUCCEEDED',
    keeps: BOTH,
  },
  {
    name: 'absent',
    modes: ['timeout_no_commit', 'timeout_no_commit'],
    plan: QUICK,
    ends: 'FAILED',
    keeps: BOTH,
  },
  {
    name: 'pending-succeeded',
    modes: ['accepted_async'],
    ends: 'SUCCEEDED',
    keeps: BOTH,
    meanwhile: async (key, operationId) => {
      await system.untilLookedUp(operationId, 2);
      await system.provider.settle(key, 'done');
    },
  },
  {
    name: 'refused-twice',
    modes: ['error_503_not_executed', 'error_503_not_executed', 'ok'],
    plan: { refusal_delays_ms: [200, 300, 400, 500] },
    ends: 'SUCCEEDED',
    keeps: EXECUTE,
  },
  {
    name: 'canceled',
    modes: [],
    amount: '5000.00',
    ends: 'CANCELED',
    keeps: EXECUTE,
    meanwhile: async (key) => {
      await untilOpen(key);
      await system.runOf(key).cancel();
    },
  },
  { name: 'expired-approval', modes: [], amount: '5000.00', ends: 'EXPIRED', keeps: EXECUTE },
  {
    name: 'approved',
    modes: ['ok'],
    amount: '5000.00',
    ends: 'SUCCEEDED',
    keeps: EXECUTE,
    meanwhile: async (key, operationId) => {
      await untilOpen(key);
      await system.decide((await system.read(operationId)).body);
    },
  },
  {
    name: 'asked-anew',
    alone: true,
    modes: ['ok'],
    amount: '5000.00',
    ends: 'SUCCEEDED',
    keeps: EXECUTE,
    meanwhile: async (key, operationId) => {
      await untilOpen(key);
      const { body: first } = await system.read(operationId);
      // The approver loses the right between the decision and the first intent, which a hold keeps apart.
      await system.pool.query(
        `insert into holds values ('acct_a', '*', 'acct_a.operator', holdfast_now())`,
      );
      await system.decide(first);
      await setApprover('disabled_at = holdfast_now()');
      await system.pool.query('delete from holds');
      const anew = await until('people are asked anew', async () => {
        const { body } = await system.read(operationId);
        return body.approval?.approval_id !== first.approval?.approval_id && body;
      });
      await setApprover('disabled_at = null');
      await system.decide(anew);
    },
  },
  {
    name: 'unreadable',
    modes: ['ok'],
    refunds: true,
    plan: { refusal_delays_ms: [200, 300, 400, 60_000] },
    ends: 'SUCCEEDED',
    keeps: EXECUTE,
    meanwhile: async (_, operationId) => {
      await system.untilLookedUp(operationId, 2);
      const { body } = await system.read(operationId);
      await showPaymentOf(body, 'up');
    },
  },
  {
    name: 'rejected',
    modes: [],
    amount: '5000.00',
    ends: 'REJECTED',
    keeps: EXECUTE,
    meanwhile: async (key, operationId) => {
      await untilOpen(key);
      await system.decide((await system.read(operationId)).body, 'reject');
    },
  },
  {
    name: 'signaled-past-the-desk',
    modes: [{ mode: 'delay_then_ok', delay_ms: 1_000 }],
    ends: 'SUCCEEDED',
    keeps: EXECUTE,
    meanwhile: async (key) => {
      await untilOpen(key);
      await system.runOf(key).signal('approval_decision', { approved: true });
    },
  },
];

beforeAll(async () => {
  // The short offer concerns only what is held.
  system = await startSystem({ env: { APPROVAL_TTL_MS: '4000' } });
  cli = await findTemporalCli();
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  version = (JSON.parse(manifest) as { version: string }).version;
  mkdirSync(FOLDER, { recursive: true });
  for (const name of readdirSync(FOLDER)) {
    if (name.startsWith(`${version}-`)) rmSync(new URL(name, FOLDER));
  }
});
afterAll(() => system.stop());

async function record(scenario: Scenario): Promise<void> {
  const { name, dispatch = 'local', modes, amount, plan = {}, ends, keeps } = scenario;
  const key = freshKey();
  const customer_id = `cus-${name}`;
  await system.planFor(customer_id, { dispatch, ...plan });
  await system.provider.script(key, ...modes);
  const body = scenario.refunds
    ? await refundHidden(key, plan)
    : (await system.submit({ key, customer_id, ...(amount ? { amount } : {}) })).body;
  await scenario.meanwhile?.(key, body.operation_id);
  expect(await system.atRest(body.operation_id)).toMatchObject({ status: ends });
  const ids = {
    execute: system.runOf(key).workflowId,
    reconcile: system.reconciliationOf(body.operation_id).workflowId,
  };
  for (const one of keeps) {
    expect(await system.untilClosed(ids[one])).toBe('COMPLETED');
    const suffix = one === 'execute' ? '' : '-child';
    writeFileSync(new URL(`${version}-${name}${suffix}.json`, FOLDER), history(ids[one]));
  }
}

describe.concurrent('recording', () => {
  it.each(SCENARIOS.filter(({ alone }) => !alone))('$name', record);
});

// What touches people and holds would touch the others' as well.
describe('recording alone', () => {
  it.each(SCENARIOS.filter(({ alone }) => alone))('$name', record);
});
/** As the CLI exports it: the one JSON form that can be read back. Names of this machine are taken out. */
function history(workflowId: string): string {
  const text = execFileSync(
    cli,
    [
      'workflow',
      'show',
      `--workflow-id=${workflowId}`,
      '--output=json',
      `--address=${system.temporal.address}`,
      `--namespace=${system.temporal.namespace}`,
    ],
    { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  const cleaned: unknown = JSON.parse(text, (name, value: unknown) =>
    name === 'identity' ? 'recorded' : name === 'stackTrace' ? '' : value,
  );
  return `${JSON.stringify(cleaned, null, 1)}\n`;
}

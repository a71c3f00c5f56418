// What has changed between the claim and the first write is noticed before anything is sent: the target at the provider, the policy, and
// the rights of those who agreed.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import type { TestProcess } from '../support/processes.ts';
import { freshKey, startSystem, type OperationView } from '../support/running-system.ts';
import { startInProcessWorker } from '../support/in-process-worker.ts';
import { until } from '../support/until.ts';

let system: Awaited<ReturnType<typeof startSystem>>;
let worker: TestProcess;
let policies = 0;

beforeAll(async () => {
  system = await startSystem({ workers: 0 });
  writePolicy('allow');
  worker = await system.startWorker({ POLICY_FILE: policyFile() });
});
afterAll(() => system.stop());

/** What the worker has: the API keeps the policy that is shipped. */
const policyFile = (): string => join(system.home, 'policy.yaml');

function writePolicy(verdict: string): void {
  policies += 1;
  const rule = `{ name: all, when: {}, verdict: ${verdict}, reason: number ${policies} }`;
  writeFileSync(policyFile(), `policy_format: 1\nrules:\n  - ${rule}\n`);
}

/** Changes the worker's policy, and waits until it is in force. */
async function changePolicy(verdict: string): Promise<void> {
  const known = inForce();
  writePolicy(verdict);
  worker.signal('SIGHUP');
  await until('the new policy is in force', () => inForce() > known);
}
const inForce = (): number => worker.fullLog().split('policy in force').length;

async function paid(amount = '900.00'): Promise<OperationView> {
  const { body } = await system.submit({ amount, wait: 30 });
  expect(body.status).toBe('SUCCEEDED');
  return body;
}

async function refund({ operation_id }: OperationView, amount: string): Promise<OperationView> {
  const { body } = await system.call('POST', '/agent/operations/refund', {
    person: 'agent',
    headers: { 'idempotency-key': freshKey() },
    body: {
      payment_operation_id: operation_id,
      amount,
      currency: 'USD',
      reason: 'a test',
    },
  });
  return body as unknown as OperationView;
}

/** Another client of the provider gives some of the payment back. */
async function refundElsewhere({ provider }: OperationView, amount: string): Promise<void> {
  const connection = readConfig(system.env).connections.find((c) => c.name === 'sandbox_acct_a');
  const { credential } = connection ?? {};
  const answer = await request(`http://127.0.0.1:${system.provider.port}/v1/refund`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${credential?.from === 'literal' ? credential.value : ''}`,
      'content-type': 'application/json',
      'idempotency-token': freshKey(),
    },
    body: JSON.stringify({
      payment: provider.reference,
      amount,
      currency: 'USD',
      reason: 'by somebody else',
    }),
    reset: true,
  });
  expect(answer.statusCode, await answer.body.text()).toBeLessThan(300);
}

interface Shown {
  readonly status: string;
  readonly round: number;
  readonly card: {
    readonly preconditions: readonly { name: string; value: string }[] | null;
    readonly difference: readonly { name: string; value: string }[] | null;
  };
}

const approvalOf = async ({ approval }: OperationView): Promise<Shown> => {
  const path = `/approvals/${approval?.approval_id}`;
  const { body } = await system.call('GET', path, { person: 'approver' });
  return body as unknown as Shown;
};

const untilShown = (one: OperationView) =>
  until('the card shows the target', async () => {
    const { card } = await approvalOf(one);
    return card.preconditions ?? undefined;
  });

const now = async ({ operation_id: id }: OperationView) => (await system.read(id)).body;

/** The operation with the approval that has replaced the one it had. */
const untilAskedAnew = (one: OperationView): Promise<OperationView> =>
  until('people are asked anew', async () => {
    const found = await now(one);
    const isOther = found.approval?.approval_id !== one.approval?.approval_id;
    return isOther && found.approval?.status === 'pending' && found;
  });

const agree = async (one: OperationView) =>
  expect(await system.decide(one)).toMatchObject({ status: 200 });

const wake = (one: OperationView) => system.runOf(one.idempotency_key).signal('row_changed');

async function expectSentOnce(one: OperationView): Promise<void> {
  expect(await system.atRest(one.operation_id)).toMatchObject({ status: 'SUCCEEDED' });
  expect(await system.provider.sawOf(one.operation_id)).toMatchObject({ writes: 1, effects: 1 });
}

async function expectNothingSent(one: OperationView, end: object): Promise<void> {
  expect(await system.atRest(one.operation_id)).toMatchObject({ ...end, attempts: [] });
  expect(await system.provider.sawOf(one.operation_id)).toMatchObject({ writes: 0, effects: 0 });
}

/** Holds new intents back meanwhile. */
async function whilePaused<T>(work: () => Promise<T>): Promise<T> {
  const hold = (what: 'pause' | 'resume') =>
    system.call('POST', `/operator/connections/sandbox_acct_a/${what}`);
  expect(await hold('pause')).toMatchObject({ status: 200 });
  try {
    return await work();
  } finally {
    expect(await hold('resume')).toMatchObject({ status: 200 });
  }
}

describe('a refund of a payment of which others gave something back', () => {
  it('after people agreed is asked about anew, with the difference, and then sent once', async () => {
    const payment = await paid();
    const asked = await refund(payment, '600.00');
    expect(await untilShown(asked)).toMatchObject([{ name: 'refundable', value: '900.00 USD' }]);
    await refundElsewhere(payment, '10000');
    await agree(asked);
    const anew = await untilAskedAnew(asked);
    expect(anew).toMatchObject({ status: 'AWAITING_APPROVAL', attempts: [] });
    expect(await approvalOf(asked)).toMatchObject({ status: 'void' });
    expect(await approvalOf(anew)).toMatchObject({
      status: 'pending',
      round: 2,
      card: {
        preconditions: [{ name: 'refundable', value: '800.00 USD' }],
        difference: expect.arrayContaining([
          expect.objectContaining({ name: 'preconditions[0].name', value: 'refundable' }),
          expect.objectContaining({ name: 'preconditions[0].shown', value: '900.00 USD' }),
          expect.objectContaining({ name: 'preconditions[0].now', value: '800.00 USD' }),
        ]),
      },
    });
    await agree(anew);
    await expectSentOnce(asked);
  });

  it('below the threshold fails where too little is left, and gives back what it held', async () => {
    const payment = await paid('100.00');
    await refundElsewhere(payment, '8000');
    const asked = await refund(payment, '50.00');
    await expectNothingSent(asked, { status: 'FAILED', error: { code: 'precondition_failed' } });
    await expectSentOnce(await refund(payment, '20.00'));
  });
});

describe('a target that the provider does not show', () => {
  it('lets nothing be sent until it does', async () => {
    const payment = await paid('100.00');
    await system.planFor(payment.operation_id, { refusal_delays_ms: Array(4).fill(1_000) });
    await system.provider.lookups(String(payment.provider.reference), 'down');
    const asked = await refund(payment, '50.00');
    expect(await system.untilLookedUp(asked.operation_id)).toMatchObject({ writes: 0 });
    expect(await now(asked)).toMatchObject({ status: 'PENDING', attempts: [] });
    await system.provider.lookups(String(payment.provider.reference), 'up');
    await expectSentOnce(asked);
  });

  it('for too long ends what nobody had to approve as FAILED, after five looks', async () => {
    const payment = await paid('100.00');
    await system.planFor(payment.operation_id, { refusal_delays_ms: Array(4).fill(100) });
    await system.provider.lookups(String(payment.provider.reference), 'down');
    const asked = await refund(payment, '50.00');
    await expectNothingSent(asked, { status: 'FAILED', error: { code: 'provider_unavailable' } });
    expect((await system.provider.sawOf(asked.operation_id)).lookups).toBe(5);
  });

  it('holds an approval up until that expires', async () => {
    const payment = await paid();
    await system.planFor(payment.operation_id, { refusal_delays_ms: Array(4).fill(100) });
    const asked = await refund(payment, '600.00');
    await untilShown(asked);
    await system.provider.lookups(String(payment.provider.reference), 'down');
    await agree(asked);
    await system.untilLookedUp(asked.operation_id, 8);
    expect(await now(asked)).toMatchObject({
      status: 'AWAITING_APPROVAL',
      approval: { status: 'approved' },
    });
    await system.pool.query(
      'update approvals set expires_at = holdfast_now() where operation_id = $1',
      [asked.operation_id],
    );
    await expectNothingSent(asked, { status: 'EXPIRED', approval: { status: 'expired' } });
  });
});

describe('between the reading of the target and the intent', () => {
  it('a cancellation is in time: what was read is not acted on', async () => {
    const payment = await paid('100.00');
    await worker.stop();
    let asked: OperationView | undefined;
    const inTheWay = await startInProcessWorker(system, {
      adapter: (real) => ({
        ...real,
        preconditions: {
          kinds: ['refund'],
          async read(contact) {
            const answer = await real.preconditions?.read(contact);
            const path = `/agent/operations/${contact.operationId}/cancel`;
            expect(await system.call('POST', path)).toMatchObject({ status: 200 });
            return answer ?? { status: 'unavailable', evidence: {} };
          },
        },
      }),
    });
    try {
      asked = await refund(payment, '50.00');
      await expectNothingSent(asked, { status: 'CANCELED' });
    } finally {
      await inTheWay.stop();
      worker = await system.startWorker({ POLICY_FILE: policyFile() });
    }
  });

  it('a worker that is killed leaves nothing behind: another reads anew and sends', async () => {
    const payment = await paid('100.00');
    await system.planFor(payment.operation_id, { refusal_delays_ms: Array(4).fill(60_000) });
    // The worker reads in vain and waits; what it knows dies with it.
    await system.provider.lookups(String(payment.provider.reference), 'down');
    const asked = await refund(payment, '50.00');
    await system.untilLookedUp(asked.operation_id);
    await worker.kill();
    await system.provider.lookups(String(payment.provider.reference), 'up');
    worker = await system.startWorker({ POLICY_FILE: policyFile() });
    await wake(asked);
    await expectSentOnce(asked);
  });
});

describe('a policy that changed while an operation was held', () => {
  afterEach(() => changePolicy('allow'));
  const submitted = async (amount: string) => (await system.submit({ amount })).body;

  it.each(['10.00', '5000.00'])('and denies now: %s USD are REJECTED', async (amount) => {
    const asked = await whilePaused(async () => {
      const one = await submitted(amount);
      if (one.approval) await agree(one);
      await changePolicy('deny');
      return one;
    });
    await wake(asked);
    await expectNothingSent(asked, { status: 'REJECTED', error: { code: 'policy_denied' } });
  });

  it('and asks for people now: it waits, is shown as waiting everywhere, and is sent once they agreed', async () => {
    const asked = await whilePaused(async () => {
      const one = await submitted('10.00');
      expect(one).toMatchObject({ status: 'PENDING', approval: null });
      await changePolicy('require_approval');
      return one;
    });
    await wake(asked);
    const anew = await untilAskedAnew(asked);
    expect(anew).toMatchObject({
      status: 'AWAITING_APPROVAL',
      next_action: 'await_approval',
      attempts: [],
    });
    await expectShownAsWaiting(anew);
    await agree(anew);
    await expectSentOnce(asked);
  });

  async function expectShownAsWaiting(one: OperationView): Promise<void> {
    const { operation_id: id, idempotency_key: key, approval } = one;
    const repeat = await system.submit({ key, wait: 20 });
    expect(repeat).toMatchObject({ status: 202, body: { status: 'AWAITING_APPROVAL', approval } });
    const list = await system.call('GET', '/agent/operations?status=AWAITING_APPROVAL');
    expect(list.body['operations']).toContainEqual(expect.objectContaining({ operation_id: id }));
    const desk = await system.call('GET', '/approvals?status=pending', { person: 'approver' });
    const waiting = { approval_id: approval?.approval_id, operation_id: id, round: 1 };
    expect(desk.body['approvals']).toContainEqual(expect.objectContaining(waiting));
    const query = `WorkflowId = "${system.runOf(key).workflowId}" AND OperationStatus = "AWAITING_APPROVAL"`;
    await until('its run is found by its state', async () => {
      for await (const _ of system.engine.workflow.list({ query })) return true;
      return false;
    });
  }
});

describe('an approver who was disabled after the vote', () => {
  it('has agreed to nothing: people are asked anew before anything is sent', async () => {
    const change = async (what: 'disable' | 'enable') =>
      expect(
        await system.call('POST', `/operator/principals/acct_a.approver/${what}`, {
          person: 'admin',
        }),
      ).toMatchObject({ status: 200 });
    const asked = await whilePaused(async () => {
      const { body } = await system.submit({ amount: '5000.00' });
      await agree(body);
      await change('disable');
      return body;
    });
    await wake(asked);
    const anew = await untilAskedAnew(asked);
    await change('enable');
    expect(await approvalOf(anew)).toMatchObject({
      card: { difference: [{ name: 'approvers_gone[0]', value: 'acct_a.approver' }] },
    });
    expect(await system.provider.sawOf(asked.operation_id)).toMatchObject({ writes: 0 });
    await agree(anew);
    await expectSentOnce(asked);
  });
});

describe('while new intents are held back', () => {
  it('the provider is not asked for a target, and an approval that was given expires all the same', async () => {
    const payment = await paid();
    const asked = await refund(payment, '600.00');
    await untilShown(asked);
    const before = await system.provider.sawOf(asked.operation_id);
    await whilePaused(async () => {
      await agree(asked);
      await until('it is held', async () => {
        const { events } = await system.runOf(asked.idempotency_key).fetchHistory();
        const summaries = events?.map((one) => String(one.userMetadata?.summary?.data ?? ''));
        return summaries?.some((text) => text.includes('held by an operator'));
      });
      await system.pool.query(
        'update approvals set expires_at = holdfast_now() where operation_id = $1',
        [asked.operation_id],
      );
      await system.sweepNow(asked.operation_id);
      await expectNothingSent(asked, { status: 'EXPIRED' });
    });
    expect(await system.provider.sawOf(asked.operation_id)).toEqual(before);
  });
});

// Decisions as signals, from the desk and past it. Whoever reaches the engine's namespace can send one; only a signature makes it count.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SignedDecision } from '../../src/domain/approval-decision.ts';
import { freePort } from '../../src/supervisor/probes.ts';
import {
  freshKey,
  startSystem,
  type OperationView,
  type RunningSystem,
} from '../support/running-system.ts';
import { until } from '../support/until.ts';

let system: RunningSystem;

beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system.stop());

const LARGE = { amount: '5000.00' };

/** A payment whose run waits for a person. */
async function waiting(): Promise<OperationView> {
  const { body } = await system.submit({ key: freshKey(), ...LARGE });
  await untilRunning(body);
  return body;
}

const runOf = ({ idempotency_key: key }: OperationView) => system.runOf(key);

const untilRunning = (one: OperationView) =>
  until('its run is open', async () =>
    runOf(one)
      .describe()
      .then(
        ({ status }) => status.name === 'RUNNING',
        () => false,
      ),
  );

const signal = (one: OperationView, payload: unknown) =>
  runOf(one).signal('approval_decision', payload);

/** Sends bytes that no JSON reader can read. */
const sendGarbage = (one: OperationView, signalName: string, more = 1) =>
  system.engine.workflowService.signalWorkflowExecution({
    namespace: system.temporal.namespace,
    workflowExecution: { workflowId: runOf(one).workflowId },
    signalName,
    requestId: randomUUID(),
    input: {
      payloads: Array.from({ length: more }, () => ({
        metadata: { encoding: Buffer.from('json/plain') },
        data: Buffer.from('{not json'),
      })),
    },
  });

const refusalsOf = async ({ operation_id: id }: OperationView) => {
  const { rows } = await system.pool.query<{ code: string; principal_id: string | null }>(
    `select detail ->> 'code' as code, principal_id from audit_events
     where operation_id = $1 and type = 'refused' order by event_id`,
    [id],
  );
  return rows;
};
const untilRefused = (one: OperationView, code: string) =>
  until(`a signal is refused as ${code}`, async () =>
    (await refusalsOf(one)).some((refusal) => refusal.code === code),
  );

const signedOf = async ({ operation_id: id }: OperationView): Promise<SignedDecision> => {
  const { rows } = await system.pool.query<{ signed: SignedDecision }>(
    `select v.signed from approval_votes v join approvals using (approval_id)
     where operation_id = $1`,
    [id],
  );
  if (!rows[0]) throw new Error(`nobody has decided about ${id}`);
  return rows[0].signed;
};

const decidedOf = async ({ operation_id: id }: OperationView) => {
  const { rows } = await system.pool.query<{ decision: string }>(
    `select detail ->> 'decision' as decision from audit_events
     where operation_id = $1 and type = 'approval_decided'`,
    [id],
  );
  return rows.map(({ decision }) => decision);
};

async function expectSentOnce(one: OperationView): Promise<void> {
  expect(await system.atRest(one.operation_id)).toMatchObject({
    status: 'SUCCEEDED',
    approval: { status: 'approved' },
  });
  expect(await system.provider.sawOf(one.operation_id)).toMatchObject({ effects: 1, writes: 1 });
}

async function expectNothingSent(one: OperationView): Promise<void> {
  expect(await system.statusOf(one.operation_id)).toBe('AWAITING_APPROVAL');
  expect(await system.provider.sawOf(one.operation_id)).toMatchObject({ writes: 0 });
}

describe.concurrent('a decision of the desk', () => {
  it('lets a waiting run go on, once', async () => {
    const one = await waiting();
    expect(await system.decide(one)).toMatchObject({ status: 200 });
    await expectSentOnce(one);
    expect(await decidedOf(one)).toEqual(['approved']);
    expect(await refusalsOf(one)).toEqual([]);
  });

  it('that comes twice, or again after the end, is one (engine fact 7)', async () => {
    const one = await waiting();
    await system.decide(one);
    const signed = await signedOf(one);
    await signal(one, signed).catch(() => {});
    await signal(one, signed).catch(() => {});
    await expectSentOnce(one);
    expect(await refusalsOf(one)).toEqual([]);
    const { events } = await runOf(one).fetchHistory();
    const handedOver = events?.filter(
      (event) =>
        event.activityTaskScheduledEventAttributes?.activityType?.name === 'receiveDecision',
    );
    expect(handedOver).toHaveLength(1);
  });

  it('that rejects ends the run and sends nothing', async () => {
    const one = await waiting();
    await system.decide(one, 'reject');
    expect(await system.untilClosed(runOf(one).workflowId)).toBe('COMPLETED');
    expect(await system.statusOf(one.operation_id)).toBe('REJECTED');
    expect(await system.provider.sawOf(one.operation_id)).toMatchObject({ writes: 0 });
  });

  it('is found in the row by a run that is started after it', async () => {
    const one = await waiting();
    await runOf(one).terminate('a test');
    await system.decide(one);
    await system.sweepNow(one.operation_id);
    await expectSentOnce(one);
  });

  it('before the engine knows of the operation is kept and used', async () => {
    const cutOff = await system.startApi({ TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` });
    const { body } = await system.submit({ ...LARGE, api: cutOff.url });
    await system.decide(body, 'approve', { api: cutOff.url });
    await expectSentOnce(body);
  });
});

describe('a decision before any worker is there', () => {
  it('is kept with the run and used', async () => {
    const idle = await startSystem({ workers: 0 });
    try {
      const { body } = await idle.submit(LARGE);
      await until('its run is open', () =>
        idle
          .runOf(body.idempotency_key)
          .describe()
          .catch(() => undefined),
      );
      await idle.decide(body);
      await until('the signal is in its history', async () => {
        const { events } = await idle.runOf(body.idempotency_key).fetchHistory();
        return events?.some((event) => event.workflowExecutionSignaledEventAttributes);
      });
      await idle.startWorker();
      expect(await idle.atRest(body.operation_id)).toMatchObject({ status: 'SUCCEEDED' });
      expect(await idle.provider.sawOf(body.operation_id)).toMatchObject({ effects: 1, writes: 1 });
    } finally {
      await idle.stop();
    }
  });
});

describe.concurrent('a signal past the desk', () => {
  it.each([
    ['a bare yes', { approved: true }],
    ['nothing', undefined],
    ['a text', 'approved'],
  ])('is refused and audited, and nothing is sent: %s', async (_, payload) => {
    const one = await waiting();
    await signal(one, payload);
    await untilRefused(one, 'decision_malformed');
    expect(await refusalsOf(one)).toEqual([{ code: 'decision_malformed', principal_id: null }]);
    await expectNothingSent(one);
    await system.decide(one);
    await expectSentOnce(one);
  });

  it('with a forged signature is refused and audited', async () => {
    const other = await waiting();
    await system.decide(other);
    const one = await waiting();
    const forged = { ...(await signedOf(other)), operation_id: one.operation_id };
    await signal(one, forged);
    await untilRefused(one, 'signature_invalid');
    await expectNothingSent(one);
  });

  it('with the signature of another operation is refused and audited', async () => {
    const other = await waiting();
    await system.decide(other);
    const one = await waiting();
    await signal(one, await signedOf(other));
    await untilRefused(one, 'decision_mismatch');
    await expectNothingSent(one);
    await expectSentOnce(other);
  });

  it('that nobody can decode wedges nothing (engine fact 6)', async () => {
    const one = await waiting();
    await sendGarbage(one, 'approval_decision');
    await sendGarbage(one, 'approval_decision', 12);
    await sendGarbage(one, 'row_changed');
    await untilRefused(one, 'decision_malformed');
    await system.decide(one);
    await expectSentOnce(one);
    const { events } = await runOf(one).fetchHistory();
    expect(events?.filter((event) => event.workflowTaskFailedEventAttributes)).toEqual([]);
  });

  it('of megabytes goes no further than the signal itself', async () => {
    const one = await waiting();
    await signal(one, { approved: 'x'.repeat(500_000) });
    await untilRefused(one, 'decision_malformed');
    const { events } = await runOf(one).fetchHistory();
    const scheduled = events?.flatMap(
      ({ activityTaskScheduledEventAttributes: activity }) => activity?.input?.payloads ?? [],
    );
    for (const payload of scheduled ?? []) expect(payload.data?.length).toBeLessThan(10_000);
    await expectNothingSent(one);
  });

  it('a hundred times fills neither audit nor history, and a person can still decide', async () => {
    const one = await waiting();
    for (let n = 0; n < 100; n++) await signal(one, { approved: n });
    await until('twenty are audited', async () => (await refusalsOf(one)).length === 20);
    await system.decide(one);
    await expectSentOnce(one);
    expect(await system.untilClosed(runOf(one).workflowId)).toBe('COMPLETED');
    expect(await refusalsOf(one)).toHaveLength(20);
    const { events } = await runOf(one).fetchHistory();
    const handedOver = events?.filter(
      (event) =>
        event.activityTaskScheduledEventAttributes?.activityType?.name === 'receiveDecision',
    );
    expect(handedOver).toHaveLength(50);
  });

  it('to an operation that waits for nobody changes nothing and is audited', async () => {
    const key = freshKey();
    await system.provider.script(key, { mode: 'delay_then_ok', delay_ms: 1_500 });
    const { body } = await system.submit({ key });
    await system.untilWritten(body.operation_id);
    await signal(body, { approved: true });
    expect(await system.atRest(body.operation_id)).toMatchObject({ status: 'SUCCEEDED' });
    expect(await system.untilClosed(runOf(body).workflowId)).toBe('COMPLETED');
    expect(await refusalsOf(body)).toEqual([{ code: 'decision_malformed', principal_id: null }]);
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject({ effects: 1, writes: 1 });
  });
});

describe.concurrent('a row that somebody has written "approved" into', () => {
  it('sends nothing, whoever wakes the run, and the audit tells of it', async () => {
    const one = await waiting();
    await system.pool.query(`update approvals set status = 'approved' where operation_id = $1`, [
      one.operation_id,
    ]);
    await runOf(one).signal('row_changed');
    await untilRefused(one, 'approval_unproved');
    await runOf(one).terminate('a test');
    await system.sweepNow(one.operation_id);
    await untilRunning(one);
    await signal(one, { approved: true });
    await untilRefused(one, 'decision_malformed');
    await expectNothingSent(one);
    expect((await refusalsOf(one)).map(({ code }) => code)).toEqual([
      'approval_unproved',
      'decision_malformed',
    ]);
  });

  it('is asked about anew where the whole row says that nobody ever had to be asked', async () => {
    const one = await waiting();
    await runOf(one).terminate('a test');
    // Everything that the claim had written about approval, so that the next run is told of none either.
    await system.pool.query('delete from approvals where operation_id = $1', [one.operation_id]);
    await system.pool.query(
      `update operations set status = 'PENDING', plan = plan || '{"awaits_approval": false}',
         policy_decision = policy_decision || '{"verdict": "allow", "approval": null}'
       where operation_id = $1`,
      [one.operation_id],
    );
    await system.sweepNow(one.operation_id);
    await until(
      'a person is asked',
      async () => (await system.statusOf(one.operation_id)) === 'AWAITING_APPROVAL',
    );
    await expectNothingSent(one);
  });
});

describe.concurrent('a run that somebody starts by hand', () => {
  it('under another id, with a plan that asks nobody, sends nothing that waits for a person', async () => {
    const one = await waiting();
    const { pool, temporal, engine } = system;
    const { rows } = await pool.query<{ input: { plan: object } }>(
      `select jsonb_build_object('operation_id', operation_id, 'account_id', account_id, 'kind', kind,
         'fingerprint', fingerprint, 'plan', plan) as input from operations where operation_id = $1`,
      [one.operation_id],
    );
    const { plan, ...rest } = rows[0]?.input ?? { plan: {} };
    const workflowId = `by-hand-${freshKey()}`;
    await engine.workflow.start('executeOperation', {
      taskQueue: temporal.taskQueue,
      workflowId,
      args: [{ ...rest, plan: { ...plan, awaits_approval: false } }],
    });
    const run = engine.workflow.getHandle(workflowId);
    await until('it has asked the row', async () => {
      const { events } = await run.fetchHistory();
      return events?.some((event) => event.timerStartedEventAttributes);
    });
    await expectNothingSent(one);
    await system.decide(one);
    await expectSentOnce(one);
    await run.terminate('a test').catch(() => {});
  });
});

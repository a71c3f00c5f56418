// The first intent of what needed approval: it wants signatures, not rows, and uses the approval up.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { send } from '../../src/activities/send.ts';
import type { DecisionVerifier } from '../../src/domain/approval-decision.ts';
import { fingerprintOf } from '../../src/domain/fingerprint.ts';
import { createApprovalWait } from '../../src/activities/approval.activity.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { NO_TRACING } from '../../src/observability/tracing.ts';
import { createWorkerMetrics } from '../../src/observability/metrics.ts';
import type { OperationInput } from '../../src/workflows/activities.contract.ts';
import { sandboxProvider } from '../../src/providers/sandbox/sandbox.provider.ts';
import { commitIntent, storeAttemptOutcome } from '../../src/store/attempts.store.ts';
import { consumeApproval } from '../../src/store/first-intent.store.ts';
import {
  addApprovers,
  approvalNow,
  decide,
  held,
  HOUR_MS,
  SECOND,
  type Held,
} from '../support/approvers.ts';
import { createDesk, DESK, UNCHANGED } from '../support/desk.ts';
import { OUTCOMES } from '../support/operation-file.ts';
import { SHIPPED_POLICY } from '../support/policy.ts';
import { begin, claimed, openRegister, stored, type Register } from '../support/register.ts';

let register: Register;
beforeAll(async () => {
  register = await openRegister();
  await addApprovers(register);
});
afterEach(() => register.shiftClock(0));
afterAll(() => register.close());

const ROW_SAYS_YES = `update approvals set status = 'approved' where operation_id = $1`;

async function expectNothingSent(one: Held, status = 'AWAITING_APPROVAL') {
  const { operation, attempts } = await stored(register, one.id);
  expect({ status: operation.status, attempts }).toEqual({ status, attempts: [] });
  expect((await approvalNow(register, one)).consumedAt).toBeNull();
}

const unprovedOf = ({ id }: Held) =>
  register.rows(
    `select principal_id, detail from audit_events
     where operation_id = $1 and type = 'refused' order by event_id`,
    [id],
  );

/** A provider that nobody must call. */
const NOBODY = {
  connection: {
    name: 'sandbox_acct_a',
    adapter: 'sandbox',
    baseUrl: 'http://127.0.0.1:1',
    credential: { from: 'literal', value: '-' },
    webhookSecret: { from: 'literal', value: '-' },
    accounts: ['acct_a'],
    kinds: ['payment'],
  } as const,
  credential: '-',
  adapter: {
    ...sandboxProvider,
    write: () => Promise.reject(new Error('nobody is asked')),
    lookUp: () => Promise.reject(new Error('nobody is asked')),
  },
};

const depsOf = (verifier: DecisionVerifier, lines: string[] = []) => ({
  pool: register.pool,
  desk: verifier,
  policy: () => SHIPPED_POLICY,
  tracing: NO_TRACING,
  providers: () => NOBODY,
  worker: 'w-1',
  logger: createLogger('worker', 'error', { write: (line) => void lines.push(line) }),
  metrics: createWorkerMetrics(),
});

/** What the worker tells a workflow that waits, and what it logs meanwhile. */
async function waits({ id }: Held, verifier = DESK.verifier) {
  const lines: string[] = [];
  const deps = depsOf(verifier, lines);
  const ms = await createApprovalWait(deps)({ operation_id: id } as OperationInput);
  return { ms, alerts: lines.length, counted: await unprovedCounted(deps) };
}

/** Gives the row the fingerprint of its command, which the register's claims have not; answers what a run of it is told. */
async function inputOf({ id }: Pick<Held, 'id'>): Promise<OperationInput> {
  const { accountId, kind, kindVersion, command, plan } = (await stored(register, id)).operation;
  const fingerprint = fingerprintOf({ accountId, kind, kindVersion, command });
  await register.rows('update operations set fingerprint = $2 where operation_id = $1', [
    id,
    fingerprint,
  ]);
  return { operation_id: id, account_id: accountId, kind, fingerprint, plan };
}

/** What a worker does that is told to send. */
async function sends(input: OperationInput) {
  const lines: string[] = [];
  const deps = depsOf(DESK.verifier, lines);
  const step = await send(deps, input, await stored(register, input.operation_id), 'dispatch');
  return { step, alerts: lines.length, counted: await unprovedCounted(deps) };
}

async function unprovedCounted({ metrics }: ReturnType<typeof depsOf>): Promise<number> {
  const { values } = await metrics.approvalsUnproved.get();
  return values[0]?.value ?? 0;
}

describe('the first intent of what a person approved', () => {
  it('is committed and uses the approval up', async () => {
    const one = await held(register);
    await decide(register, one);
    expect(await begin(register, one.id)).toMatchObject({ operation: { status: 'IN_PROGRESS' } });
    const { consumedAt } = await approvalNow(register, one);
    const [attempt] = (await stored(register, one.id)).attempts;
    expect(consumedAt).toBe(attempt?.startedAt);
  });

  it('is one where ten want it at once', async () => {
    const one = await held(register);
    await decide(register, one);
    const read = await stored(register, one.id);
    const intent = { number: 1, purpose: 'dispatch', requestBody: '{}', worker: 'w' } as const;
    const results = await Promise.all(
      Array.from({ length: 10 }, () => commitIntent(register.pool, read, intent, UNCHANGED)),
    );
    expect(results.filter((result) => typeof result === 'object')).toHaveLength(1);
    expect((await stored(register, one.id)).attempts).toHaveLength(1);
  });

  it('is not begun before anybody decided, nor before all have who must', async () => {
    const one = await held(register, { quorum: 2 });
    expect(await begin(register, one.id)).toBe('unapproved');
    await decide(register, one);
    expect(await begin(register, one.id)).toBe('unapproved');
    await expectNothingSent(one);
    expect(await unprovedOf(one)).toEqual([]);
    await decide(register, one, { by: SECOND });
    expect(await begin(register, one.id)).toMatchObject({ operation: { status: 'IN_PROGRESS' } });
  });

  it('is not begun once the offer is over, and the operation is EXPIRED', async () => {
    const one = await held(register);
    await decide(register, one);
    await register.shiftClock(HOUR_MS);
    expect(await begin(register, one.id)).toBe('ended');
    await expectNothingSent(one, 'EXPIRED');
  });

  it('is not begun with an approval that was used before', async () => {
    const one = await held(register);
    await decide(register, one);
    await register.rows(
      'update approvals set consumed_at = holdfast_now() where operation_id = $1',
      [one.id],
    );
    expect(await begin(register, one.id)).toBe('unapproved');
    const file = await stored(register, one.id);
    expect(file.attempts).toEqual([]);
    const again = consumeApproval(register.pool, file, new Date().toISOString());
    await expect(again).rejects.toThrow('used before');
  });
});

describe('a later intent of what a person approved', () => {
  async function refusedOnce(): Promise<Held> {
    const one = await held(register);
    await decide(register, one);
    await begin(register, one.id);
    await storeAttemptOutcome(register.pool, one.id, 1, OUTCOMES.not_sent);
    return one;
  }

  it('needs no new approval, also when the offer is over', async () => {
    const one = await refusedOnce();
    await register.shiftClock(HOUR_MS);
    expect(await begin(register, one.id)).toMatchObject({ operation: { status: 'IN_PROGRESS' } });
    expect((await stored(register, one.id)).attempts).toHaveLength(2);
  });

  it.each([
    ['plan', `update operations set plan = plan || '{"provider_deadline_ms": 1}'`],
    ['connection', `update operations set connection = 'sandbox_acct_b'`],
    ['provider token', `update operations set provider_token = 'another'`],
    ['moment of its use', `update approvals set consumed_at = consumed_at + interval '2 hours'`],
    ['end of the offer', `update approvals set expires_at = expires_at + interval '1 day'`],
    ['standing of the approval', `update approvals set status = 'pending'`],
  ])('goes to a person where the %s was changed after it', async (_, change) => {
    const one = await refusedOnce();
    await register.rows(`${change} where operation_id = $1`, [one.id]);
    expect(await begin(register, one.id)).toBe('unproved');
    const { operation, attempts } = await stored(register, one.id);
    expect({ status: operation.status, attempts: attempts.length }).toEqual({
      status: 'NEEDS_REVIEW',
      attempts: 1,
    });
  });
});

describe('a row that says more than the signatures', () => {
  const edits: [string, (one: Held) => Promise<unknown>][] = [
    ['approved, by nobody', async ({ id }) => register.rows(ROW_SAYS_YES, [id])],
    [
      'approved, with a vote that somebody wrote',
      async ({ id, approvalId }) => {
        await register.rows(ROW_SAYS_YES, [id]);
        await register.rows(
          `insert into approval_votes (approval_id, owner, principal_id, decision, decided_at, signed)
           values ($1, 'o', 'acct_a.approver', 'approved', holdfast_now(), '{"approved": true}')`,
          [approvalId],
        );
      },
    ],
    [
      'approved, signed by another desk',
      async (one) => decide(register, one, { desk: createDesk().signer }),
    ],
    [
      'approved, with the signature of another operation',
      async (one) => {
        const other = await held(register);
        await decide(register, other);
        await register.rows(ROW_SAYS_YES, [one.id]);
        await register.rows(
          `insert into approval_votes
           select $1, owner, principal_id, decision, decided_at, comment, signed
           from approval_votes where approval_id = $2`,
          [one.approvalId, other.approvalId],
        );
      },
    ],
    [
      'approved, before the plan was edited',
      async (one) => {
        await decide(register, one);
        await register.rows(
          `update operations set plan = plan || '{"target": {"amount_minor": "1", "currency": "USD",
             "operation_id": "op_other", "provider_reference": "pay_other"}}' where operation_id = $1`,
          [one.id],
        );
      },
    ],
    [
      'approved, before its time was moved',
      async (one) => {
        await decide(register, one);
        await register.rows(
          `update approvals set expires_at = expires_at + interval '1 day' where operation_id = $1`,
          [one.id],
        );
      },
    ],
  ];

  it.each(edits)('sends nothing, and is told once: %s', async (_, edit) => {
    const one = await held(register);
    await edit(one);
    expect(await begin(register, one.id)).toBe('unapproved');
    expect(await begin(register, one.id)).toBe('unapproved');
    await expectNothingSent(one);
    const detail = { code: 'approval_unproved', approval_id: one.approvalId };
    expect(await unprovedOf(one)).toEqual([{ principal_id: null, detail }]);
    expect(await waits(one)).toEqual({ ms: 10 * 60_000, alerts: 1, counted: 1 });
  });

  it('sends nothing where a quorum was made smaller after one had agreed', async () => {
    const one = await held(register, { quorum: 2 });
    await decide(register, one);
    await register.rows(
      `update approvals set quorum = 1, status = 'approved' where operation_id = $1`,
      [one.id],
    );
    expect(await begin(register, one.id)).toBe('unapproved');
    await expectNothingSent(one);
  });

  it('sends nothing where one word was stored twice for a quorum of two', async () => {
    const one = await held(register, { quorum: 2 });
    await decide(register, one);
    await register.rows(
      `insert into approval_votes select approval_id, 'another', '${SECOND}', decision, decided_at, comment, signed
       from approval_votes where approval_id = $1`,
      [one.approvalId],
    );
    await register.rows(ROW_SAYS_YES, [one.id]);
    expect(await begin(register, one.id)).toBe('unapproved');
    await expectNothingSent(one);
    expect(await unprovedOf(one)).toHaveLength(1);
  });

  it('goes to a person where another state was written over the one that waits: nobody would be asked', async () => {
    const one = await held(register);
    await register.rows(`update operations set status = 'PENDING' where operation_id = $1`, [
      one.id,
    ]);
    expect(await begin(register, one.id)).toBe('ended');
    await expectNothingSent(one, 'NEEDS_REVIEW');
  });

  it('goes to a person where its connection was changed to one that does not serve it', async () => {
    const one = await claimed(register);
    const connection = { ...NOBODY.connection, accounts: ['acct_b'] };
    const deps = { ...depsOf(DESK.verifier), providers: () => ({ ...NOBODY, connection }) };
    await send(deps, await inputOf(one), await stored(register, one.id), 'dispatch');
    const { operation, attempts } = await stored(register, one.id);
    expect(attempts).toEqual([]);
    expect(operation).toMatchObject({ status: 'NEEDS_REVIEW', error: { code: 'command_changed' } });
  });

  it('goes to a person where the plan says that nobody has to be asked, and the run knows better', async () => {
    const one = await held(register);
    const { operation } = await stored(register, one.id);
    await register.rows(
      `update operations set status = 'PENDING', plan = plan || '{"awaits_approval": false}'
       where operation_id = $1`,
      [one.id],
    );
    await sends({ ...(await inputOf(one)), plan: operation.plan });
    await expectNothingSent(one, 'NEEDS_REVIEW');
  });

  it('goes to a person where an earlier try was written into the ledger, that nobody approved', async () => {
    const one = await held(register);
    await register.rows(
      `insert into attempts (operation_id, number, purpose, request_body, started_at, ended_at, outcome, worker)
       values ($1, 1, 'dispatch', '{}', holdfast_now(), holdfast_now(), 'not_sent', 'nobody')`,
      [one.id],
    );
    await register.rows(`update operations set status = 'IN_PROGRESS' where operation_id = $1`, [
      one.id,
    ]);
    expect(await sends(await inputOf(one))).toEqual({
      step: { next: 'done' },
      alerts: 1,
      counted: 1,
    });
    const { operation, attempts } = await stored(register, one.id);
    expect(operation).toMatchObject({ status: 'NEEDS_REVIEW', error: { code: 'command_changed' } });
    expect(attempts).toHaveLength(1);
  });

  it('is over like every other when its time is', async () => {
    const one = await held(register);
    await register.rows(ROW_SAYS_YES, [one.id]);
    await register.shiftClock(HOUR_MS);
    expect(await waits(one)).toEqual({ ms: null, alerts: 0, counted: 0 });
    await expectNothingSent(one, 'EXPIRED');
  });
});

describe('a command that was changed after the claim', () => {
  it.each([
    ['by itself', false],
    ['with a fingerprint that fits', true],
  ])('sends nothing, and a person looks: %s', async (_, fits) => {
    const { id } = await claimed(register);
    const input = await inputOf({ id });
    await register.rows(
      `update operations set command = command || '{"amount": "99.00"}' where operation_id = $1`,
      [id],
    );
    if (fits) await inputOf({ id });
    expect(await sends(input)).toMatchObject({ step: { next: 'done' } });
    const { operation, attempts } = await stored(register, id);
    expect(attempts).toEqual([]);
    expect(operation).toMatchObject({
      status: 'NEEDS_REVIEW',
      reviewReason: 'command_changed',
      command: { amount: '99.00' },
    });
  });
});

describe('the wait for people', () => {
  it('lasts as long as the offer, and ends with the approval', async () => {
    const one = await held(register);
    expect((await waits(one)).ms).toBeGreaterThan(HOUR_MS - 60_000);
    await decide(register, one);
    expect(await waits(one)).toEqual({ ms: null, alerts: 0, counted: 0 });
  });

  it('goes on where this worker lacks the key, and ends once it has it', async () => {
    const one = await held(register);
    await decide(register, one);
    expect(await waits(one, createDesk().verifier)).toEqual({
      ms: 10 * 60_000,
      alerts: 1,
      counted: 1,
    });
    expect(await waits(one)).toEqual({ ms: null, alerts: 0, counted: 0 });
    expect(await begin(register, one.id)).toMatchObject({ operation: { status: 'IN_PROGRESS' } });
  });
});

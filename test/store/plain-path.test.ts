import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OperationFile } from '../../src/domain/operation.ts';
import type { WriteOutcome } from '../../src/domain/outcome.ts';
import { commitIntent, storeAttemptOutcome } from '../../src/store/attempts.store.ts';
import type { FirstIntentChecks } from '../../src/store/first-intent.store.ts';
import { hold, lift } from '../../src/store/holds.store.ts';
import { beginPlainly, endPlainly } from '../../src/store/plain-path.store.ts';
import { inTransaction } from '../../src/store/transaction.ts';
import { UNCHANGED } from '../support/desk.ts';
import { OUTCOMES } from '../support/operation-file.ts';
import {
  attempted,
  auditTypes,
  claimed,
  move,
  openRegister,
  stored,
  traceOf,
  type Register,
} from '../support/register.ts';

let register: Register;
beforeAll(async () => {
  register = await openRegister();
});
afterAll(() => register.close());

const INTENT = { number: 1, purpose: 'dispatch', requestBody: '{}', worker: 'w-1' } as const;

/** The same with something to look at, so that the long way is gone. */
const WITH_A_TARGET: FirstIntentChecks = {
  ...UNCHANGED,
  reading: UNCHANGED.reading && {
    ...UNCHANGED.reading,
    preconditions: { status: 'read', values: {}, unmet: null, evidence: {} },
  },
};

const OWN =
  /^(operation_id|idempotency_key|fingerprint|business_key|provider_token|policy_version|.*_at|at|xid|event_id|evidence_id|unknown_since|safe_resend_until|response_sha256)$/;

/** All that is written of an operation, without what is its own: ids and times, each of which only has to be there. */
async function written(id: string): Promise<unknown> {
  const text = JSON.stringify(await traceOf(register, id));
  const { operation } = await stored(register, id);
  const own = [operation.operationId, operation.idempotencyKey, operation.fingerprint];
  const alike = own.reduce((rest, one) => rest.replaceAll(one, 'own'), text);
  return JSON.parse(
    alike
      .replaceAll(/inv-[0-9a-f-]{36}/g, 'inv')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)/g, 'then'),
    (name, value: unknown) => (OWN.test(name) && value !== null ? 'own' : value),
  );
}

const begun = async (checks = UNCHANGED): Promise<OperationFile> => {
  const { id: _, ...read } = await claimed(register);
  const file = await commitIntent(register.pool, read, INTENT, checks);
  if (typeof file !== 'object') throw new Error(String(file));
  return file;
};

const idOf = ({ operation }: OperationFile) => operation.operationId;

const CANCEL = `status = 'CANCELED', version = version + 1, response_body = '{}'`;
/** As the sweep does: nothing of it is told of the operation, so its version stays. */
const LEASE = `next_sweep_at = '2020-01-01T00:00:00Z'`;

/** Does the work while somebody else is changing the operation, and lets that one end first. */
async function whileChanged<T>(
  file: OperationFile,
  work: () => Promise<T>,
  change = CANCEL,
): Promise<T> {
  const waiting = `select count(*) from pg_stat_activity
    where wait_event_type = 'Lock' and datname = current_database()`;
  return inTransaction(register.pool, async (db) => {
    await db.query(`update operations set ${change} where operation_id = $1`, [idOf(file)]);
    const result = work();
    await expect.poll(() => register.count(waiting)).toBe(1);
    return { result };
  }).then(({ result }) => result);
}

const sweptAt = async (file: OperationFile) =>
  (
    await register.rows('select next_sweep_at as at from operations where operation_id = $1', [
      idOf(file),
    ])
  )[0]?.['at'];

describe('a first intent', () => {
  it('is the same whether it is one statement or a transaction', async () => {
    const { id: _, ...read } = await claimed(register);
    const short = await beginPlainly(register.pool, read, INTENT, UNCHANGED);
    if (!short) throw new Error('not plain');
    expect(short).toStrictEqual(await stored(register, idOf(short)));
    const long = await begun(WITH_A_TARGET);
    expect(await written(idOf(short))).toEqual(await written(idOf(long)));
  });

  it.each<[string, (read: OperationFile) => Promise<unknown>, () => Promise<unknown>]>([
    [
      'was changed meanwhile',
      async (read) =>
        register.rows('update operations set version = 9 where operation_id = $1', [idOf(read)]),
      async () => {},
    ],
    [
      'is held by an operator',
      () => hold(register.pool, { accountId: 'acct_a', connection: '*' }, 'acct_a.operator'),
      () => lift(register.pool, { accountId: 'acct_a', connection: '*' }),
    ],
    [
      'lost its grant',
      () => register.rows(`delete from grants where principal_id = 'acct_a.agent'`),
      () => register.rows(`insert into grants values ('acct_a.agent', 'payment')`),
    ],
    [
      'has a disabled submitter',
      () =>
        register.rows(
          `update principals set disabled_at = now() where principal_id = 'acct_a.agent'`,
        ),
      () =>
        register.rows(
          `update principals set disabled_at = null where principal_id = 'acct_a.agent'`,
        ),
    ],
    [
      'has an attempt of this number',
      (read) =>
        register.rows(
          `insert into attempts (operation_id, number, purpose, request_body, started_at, worker)
           values ($1, 1, 'dispatch', '{}', now(), 'w-2')`,
          [idOf(read)],
        ),
      async () => {},
    ],
  ])('writes nothing by the short way where the operation %s', async (_, hinder, undo) => {
    const { id, ...read } = await claimed(register);
    await hinder(read);
    const before = await traceOf(register, id);
    try {
      expect(await beginPlainly(register.pool, read, INTENT, UNCHANGED)).toBeUndefined();
      expect(await traceOf(register, id)).toEqual(before);
    } finally {
      await undo();
    }
  });

  it('that waits for somebody who is canceling the operation does not begin it', async () => {
    const { id, ...read } = await claimed(register);
    const answered = await whileChanged(read, () =>
      beginPlainly(register.pool, read, INTENT, UNCHANGED),
    );
    expect(answered).toBeUndefined();
    expect(await stored(register, id)).toMatchObject({
      operation: { status: 'CANCELED' },
      attempts: [],
    });
  });

  it('that waits for the sweep begins all of it, and leaves what that wrote', async () => {
    const { id, ...read } = await claimed(register);
    const answered = await whileChanged(
      read,
      () => beginPlainly(register.pool, read, INTENT, UNCHANGED),
      LEASE,
    );
    expect(answered).toStrictEqual(await stored(register, id));
    expect(await sweptAt(read)).toBe('2020-01-01T00:00:00.000Z');
    expect(await auditTypes(register, id)).toContain('transition PENDING>IN_PROGRESS');
  });

  it('goes the long way where people had to be asked, where the policy asks now, and after a first try', async () => {
    const { id: _, ...asked } = await claimed(register, { approvalTtlMs: 60_000 });
    expect(await beginPlainly(register.pool, asked, INTENT, UNCHANGED)).toBeUndefined();
    const { id: __, ...free } = await claimed(register);
    const { reading } = UNCHANGED;
    if (!reading) throw new Error('no reading');
    const denied = { ...reading, verdict: { ...reading.verdict, verdict: 'deny' as const } };
    expect(
      await beginPlainly(register.pool, free, INTENT, { ...UNCHANGED, reading: denied }),
    ).toBeUndefined();
    const tried = await begun();
    expect(await beginPlainly(register.pool, tried, INTENT, UNCHANGED)).toBeUndefined();
  });
});

describe('an answer', () => {
  const { succeeded, failed, pending, unknown, not_sent } = OUTCOMES;
  const answers: readonly WriteOutcome[] = [succeeded, failed, pending, unknown, not_sent];

  it.each(answers.map((one) => [one.status, one] as const))(
    'of "%s" is the same whether the intent is at hand or only its operation is named',
    async (_, outcome) => {
      const [one, two] = [await begun(), await begun()];
      const short = await storeAttemptOutcome(register.pool, one, 1, outcome);
      expect(short).toMatchObject(await stored(register, idOf(one)));
      await storeAttemptOutcome(register.pool, idOf(two), 1, outcome);
      expect(await written(idOf(one))).toEqual(await written(idOf(two)));
    },
  );

  it.each([succeeded, unknown])(
    'that decides at once goes the short way ($status)',
    async (outcome) => {
      const one = await begun();
      expect(await endPlainly(register.pool, one, 1, outcome)).toBeDefined();
      expect((await stored(register, idOf(one))).attempts[0]?.outcome).toBe(outcome.status);
    },
  );

  it('that comes after somebody changed the operation writes nothing by the short way, and is evidence by the long one', async () => {
    const one = await begun();
    await move(register, idOf(one), {
      to: 'SUCCEEDED',
      result: { payment_id: 'pay_1' },
      providerReference: 'pay_1',
    });
    const before = await traceOf(register, idOf(one));
    expect(await endPlainly(register.pool, one, 1, succeeded)).toBeUndefined();
    expect(await traceOf(register, idOf(one))).toEqual(before);
    await storeAttemptOutcome(register.pool, one, 1, unknown);
    expect((await stored(register, idOf(one))).operation.status).toBe('SUCCEEDED');
  });

  it('that waits for somebody who is changing the operation finds it changed', async () => {
    const one = await begun();
    const answered = await whileChanged(one, () => endPlainly(register.pool, one, 1, succeeded));
    expect(answered).toBeUndefined();
    const { operation, attempts } = await stored(register, idOf(one));
    expect([operation.status, attempts[0]?.outcome]).toEqual(['CANCELED', null]);
    expect(await auditTypes(register, idOf(one))).not.toContain('sent');
  });

  it('that waits for the sweep is stored whole, and leaves what that wrote', async () => {
    const one = await begun();
    const answered = await whileChanged(
      one,
      () => endPlainly(register.pool, one, 1, succeeded),
      LEASE,
    );
    expect(answered).toMatchObject(await stored(register, idOf(one)));
    expect(await sweptAt(one)).toBe('2020-01-01T00:00:00.000Z');
    expect(await auditTypes(register, idOf(one))).toContain('transition IN_PROGRESS>SUCCEEDED');
  });

  it('that comes after a reopened operation has claimed the same business key shows the conflict in its bytes', async () => {
    const invoice = 'inv-held-by-another';
    const { id: reopened } = await attempted(register, [failed], { invoice });
    const { id, ...read } = await claimed(register, { invoice });
    const one = await commitIntent(register.pool, read, INTENT, UNCHANGED);
    if (typeof one !== 'object') throw new Error(String(one));
    await storeAttemptOutcome(register.pool, reopened, 1, succeeded);
    await storeAttemptOutcome(register.pool, one, 1, succeeded);
    const { operation } = await stored(register, id);
    expect([operation.status, operation.conflictsWith]).toEqual(['SUCCEEDED', reopened]);
    expect(JSON.parse(operation.responseBody ?? '')).toMatchObject({ conflicts_with: reopened });
  });

  it('is stored once where ten bring it', async () => {
    const one = await begun();
    const all = await Promise.all(
      Array.from({ length: 10 }, () => storeAttemptOutcome(register.pool, one, 1, succeeded)),
    );
    expect(new Set(all.map(({ operation }) => operation.responseBody)).size).toBe(1);
    const events = await auditTypes(register, idOf(one));
    expect(events.filter((type) => type === 'sent')).toHaveLength(1);
  });

  it('goes the long way where people have decided about the operation: what they said changes no version', async () => {
    const one = await begun();
    const approval = { approvalId: 'apr_1', status: 'pending', reason: '', expiresAt: '' } as const;
    expect(await endPlainly(register.pool, { ...one, approval }, 1, succeeded)).toBeUndefined();
    expect(await endPlainly(register.pool, one, 1, succeeded)).toBeDefined();
  });

  it('to an attempt that has one by now writes nothing by the short way', async () => {
    const one = await begun();
    await register.rows(`update attempts set outcome = 'unknown' where operation_id = $1`, [
      idOf(one),
    ]);
    const before = await traceOf(register, idOf(one));
    expect(await endPlainly(register.pool, one, 1, succeeded)).toBeUndefined();
    expect(await traceOf(register, idOf(one))).toEqual(before);
  });
});

import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  isSettled,
  mayMove,
  OPERATION_STATES,
  TRANSITIONS,
  type OperationState,
} from '../../src/domain/operation-state.ts';
import { renderOperation } from '../../src/domain/representation.ts';
import { reviewChangedCommand } from '../../src/store/reviews.store.ts';
import { inTransaction } from '../../src/store/transaction.ts';
import { moveOperation, patchOperation } from '../../src/store/transitions.store.ts';
import { T0 } from '../support/operation-file.ts';
import {
  auditTypes,
  claimed,
  move,
  openRegister,
  operationIn,
  stored,
  traceOf,
  type Register,
} from '../support/register.ts';

let register: Register;
beforeAll(async () => {
  register = await openRegister();
});
afterAll(() => register.close());

const LEGAL = OPERATION_STATES.flatMap((from) =>
  TRANSITIONS[from].map((to) => [from, to] as const),
);
const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

describe('a move', () => {
  it.each(OPERATION_STATES)('from %s to where the table does not lead throws', async (from) => {
    const file = await operationIn(register, from);
    const before = await traceOf(register, file.id);
    for (const to of OPERATION_STATES.filter((one) => !mayMove(from, one))) {
      const illegal = inTransaction(register.pool, (db) => moveOperation(db, file, T0, { to }));
      await expect(illegal).rejects.toThrow(`no move from ${from} to ${to}`);
    }
    expect(await traceOf(register, file.id)).toEqual(before);
  });

  it.each(LEGAL)('from %s to %s is stored with exactly one transition event', async (from, to) => {
    const { id, operation } = await operationIn(register, from);
    const before = await auditTypes(register, id);
    const moved = await move(register, id, { to });
    expect((await auditTypes(register, id)).slice(before.length)).toEqual([
      `transition ${from}>${to}`,
    ]);
    const after = await stored(register, id);
    expect(after).toEqual(moved);
    expect(after.operation).toMatchObject({ status: to, version: operation.version + 1 });
  });

  it('that comes second writes nothing', async () => {
    const { id, ...read } = await operationIn(register, 'IN_PROGRESS');
    await move(register, id, { to: 'UNKNOWN' });
    const before = await traceOf(register, id);
    const lost = await inTransaction(register.pool, (db) =>
      moveOperation(db, read, T0, { to: 'FAILED' }, { events: [] }),
    );
    expect(lost).toBeUndefined();
    expect(await traceOf(register, id)).toEqual(before);
  });

  it('that comes second writes nothing even where the state came round to the same', async () => {
    const { id, ...read } = await operationIn(register, 'NEEDS_REVIEW');
    await move(register, id, { to: 'SUCCEEDED' });
    await move(register, id, { to: 'NEEDS_REVIEW' });
    const before = await traceOf(register, id);
    const lost = await inTransaction(register.pool, (db) =>
      moveOperation(db, read, T0, { to: 'FAILED' }),
    );
    expect(lost).toBeUndefined();
    expect(await traceOf(register, id)).toEqual(before);
  });

  it('is won by one of ten that read the same', async () => {
    const { id, ...read } = await operationIn(register, 'UNKNOWN');
    const targets: OperationState[] = ['SUCCEEDED', 'FAILED', 'RECONCILING', 'NEEDS_REVIEW'];
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        inTransaction(register.pool, (db) =>
          moveOperation(db, read, T0, { to: targets[n % targets.length] ?? 'FAILED' }),
        ),
      ),
    );
    expect(results.filter(Boolean)).toHaveLength(1);
    const moves = (await auditTypes(register, id)).filter((one) =>
      one.startsWith('transition UNKNOWN'),
    );
    expect(moves).toHaveLength(1);
  });

  it('is undone with its audit, stored bytes and released claims where its transaction is', async () => {
    const { id } = await operationIn(register, 'IN_PROGRESS');
    const before = await traceOf(register, id);
    const work = inTransaction(register.pool, async (db) => {
      await moveOperation(db, await stored(register, id), T0, { to: 'FAILED' });
      throw new Error('power cut');
    });
    await expect(work).rejects.toThrow('power cut');
    expect(await traceOf(register, id)).toEqual(before);
  });

  it('is seen by others together with its audit, at the commit', async () => {
    const { id } = await operationIn(register, 'IN_PROGRESS');
    const before = await traceOf(register, id);
    await inTransaction(register.pool, async (db) => {
      await moveOperation(db, await stored(register, id), T0, { to: 'SUCCEEDED' });
      expect(await traceOf(register, id)).toEqual(before);
    });
    expect((await stored(register, id)).operation.status).toBe('SUCCEEDED');
    expect((await auditTypes(register, id)).at(-1)).toBe('transition IN_PROGRESS>SUCCEEDED');
  });
});

describe('stored bytes', () => {
  it.each(OPERATION_STATES)('exist in %s if and only if it is settled', async (state) => {
    const { operation } = await operationIn(register, state);
    expect(operation.responseBody !== null).toBe(isSettled(state));
    expect(operation.responseStatus).toBe(isSettled(state) ? 200 : null);
    expect(operation.settledAt !== null).toBe(isSettled(state));
  });

  it('are what the renderer makes of the settled operation', async () => {
    for (const state of OPERATION_STATES.filter(isSettled)) {
      const { operation, ...rest } = await operationIn(register, state);
      expect(operation.responseBody).toBe(renderOperation({ ...rest, operation }));
      expect(JSON.parse(operation.responseBody ?? '')).toMatchObject({
        operation_id: operation.operationId,
        status: state,
        settled_at: operation.settledAt,
      });
    }
  });

  it('have their SHA-256 in the audit', async () => {
    for (const state of OPERATION_STATES.filter(isSettled)) {
      const { id, operation } = await operationIn(register, state);
      const [event] = await register.rows(
        `select response_sha256 from audit_events
         where operation_id = $1 and to_state = $2 and type = 'transition'`,
        [id, state],
      );
      expect(event?.['response_sha256']).toBe(sha256(operation.responseBody ?? ''));
    }
  });

  it('have no hash in the audit where there are none', async () => {
    const { id } = await operationIn(register, 'NEEDS_REVIEW');
    expect(
      await register.count(
        `select count(*) from audit_events where operation_id = $1 and response_sha256 is not null`,
        [id],
      ),
    ).toBe(0);
  });

  it('are withdrawn by NEEDS_REVIEW, and kept as evidence of what was told', async () => {
    const { id, operation } = await operationIn(register, 'SUCCEEDED');
    await move(register, id, { to: 'NEEDS_REVIEW', reviewReason: 'evidence_contradicts' });
    expect((await stored(register, id)).operation).toMatchObject({
      responseBody: null,
      responseStatus: null,
      settledAt: null,
      reviewReason: 'evidence_contradicts',
    });
    expect(
      await register.rows(`select type, verdict, detail from evidence where operation_id = $1`, [
        id,
      ]),
    ).toEqual([
      {
        type: 'withdrawn_response',
        verdict: 'SUCCEEDED',
        detail: { response_body: operation.responseBody },
      },
    ]);
  });

  it('are new ones after a person has decided', async () => {
    const { id, operation } = await operationIn(register, 'SUCCEEDED');
    await move(register, id, { to: 'NEEDS_REVIEW' });
    await move(register, id, { to: 'FAILED' });
    const after = (await stored(register, id)).operation;
    expect(after.responseBody).not.toBe(operation.responseBody);
    expect(JSON.parse(after.responseBody ?? '')).toMatchObject({ status: 'FAILED', result: null });
  });

  it('can’t be missing or too many: the database itself refuses', async () => {
    const open = await operationIn(register, 'IN_PROGRESS');
    const settled = await operationIn(register, 'SUCCEEDED');
    const set = (id: string, change: string) =>
      register.pool.query(`update operations set ${change} where operation_id = $1`, [id]);
    await expect(set(open.id, `status = 'SUCCEEDED'`)).rejects.toThrow(/check constraint/);
    await expect(set(open.id, `response_body = '{}'`)).rejects.toThrow(/check constraint/);
    await expect(set(settled.id, `response_body = null`)).rejects.toThrow(/check constraint/);
    await expect(set(settled.id, `status = 'UNKNOWN'`)).rejects.toThrow(/check constraint/);
  });
});

describe('a change without a move', () => {
  it('counts as a change: whoever read before it has lost', async () => {
    const { id, ...read } = await operationIn(register, 'IN_PROGRESS');
    const patched = await patchOperation(register.pool, read, T0, { providerReference: 'pay_1' });
    expect(patched?.operation.version).toBe(read.operation.version + 1);
    expect(await stored(register, id)).toEqual(patched);
    expect(
      await patchOperation(register.pool, read, T0, { providerReference: 'pay_2' }),
    ).toBeUndefined();
    expect(
      await inTransaction(register.pool, (db) => moveOperation(db, read, T0, { to: 'FAILED' })),
    ).toBeUndefined();
    expect((await stored(register, id)).operation.providerReference).toBe('pay_1');
  });
});

describe('a stored command that is not the one that was claimed', () => {
  it.each(['PENDING', 'AWAITING_APPROVAL', 'IN_PROGRESS', 'UNKNOWN', 'RECONCILING'] as const)(
    'sends %s to a person',
    async (state) => {
      const { id } = await operationIn(register, state);
      await reviewChangedCommand(register.pool, id);
      expect((await stored(register, id)).operation).toMatchObject({
        status: 'NEEDS_REVIEW',
        reviewReason: 'command_changed',
        error: { code: 'command_changed' },
      });
    },
  );

  it.each(OPERATION_STATES.filter(isSettled))(
    'leaves %s as it is: only provider evidence contradicts what is settled',
    async (state) => {
      const { id, operation } = await operationIn(register, state);
      await reviewChangedCommand(register.pool, id);
      const { status, version } = (await stored(register, id)).operation;
      expect({ status, version }).toEqual({ status: state, version: operation.version });
    },
  );

  it('is no reason to fail where there is no such operation', async () => {
    await expect(reviewChangedCommand(register.pool, `op_${randomUUID()}`)).resolves.toBe(
      undefined,
    );
  });
});

describe('the audit of an operation', () => {
  it('names account, principal, key and fingerprint in every event', async () => {
    const { id, operation } = await claimed(register);
    await move(register, id, { to: 'CANCELED' });
    const events = await register.rows(
      `select distinct account_id, principal_id, idempotency_key, fingerprint
       from audit_events where operation_id = $1`,
      [id],
    );
    expect(events).toEqual([
      {
        account_id: operation.accountId,
        principal_id: operation.agentId,
        idempotency_key: operation.idempotencyKey,
        fingerprint: operation.fingerprint,
      },
    ]);
  });

  it('holds nothing of the command', async () => {
    const { id } = await operationIn(register, 'SUCCEEDED');
    const events = await register.rows(
      `select to_jsonb(a)::text as text from audit_events a where operation_id = $1`,
      [id],
    );
    expect(JSON.stringify(events)).not.toMatch(/cus_1|10\.00/);
  });
});

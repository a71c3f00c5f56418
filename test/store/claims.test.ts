import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATION_STATES, releasesClaims } from '../../src/domain/operation-state.ts';
import { CLAIMS } from '../../src/store/claim-statement.ts';
import { claim } from '../../src/store/claims.store.ts';
import {
  auditTypes,
  claimed,
  claimOf,
  move,
  openRegister,
  operationIn,
  stored,
  type Register,
} from '../support/register.ts';

let register: Register;
beforeAll(async () => {
  register = await openRegister();
});
afterAll(() => register.close());

const tracesOf = async (operationId: string) => {
  const tables = ['operations', 'audit_events', 'outbox_messages', 'business_keys', 'approvals'];
  const counts = await Promise.all(
    tables.map((table) =>
      register.count(`select count(*) from ${table} where operation_id = $1`, [operationId]),
    ),
  );
  return counts.reduce((sum, one) => sum + one);
};

describe('a claim', () => {
  it('lets one of 50 concurrent claims of a key through; the others learn that it is known', async () => {
    const key = `key-${randomUUID()}`;
    const requests = Array.from({ length: 50 }, () => claimOf({ key, invoice: `inv-${key}` }));
    const results = await Promise.all(requests.map((one) => claim(register.pool, one)));
    const winners = results.filter(({ status }) => status === 'claimed');
    expect(winners).toHaveLength(1);
    expect(results.filter(({ status }) => status === 'known')).toHaveLength(49);
    const traces = await Promise.all(
      requests.map(({ operation }) => tracesOf(operation.operationId)),
    );
    expect(traces.filter((count) => count > 0)).toHaveLength(1);
    expect(
      await register.count('select count(*) from operations where idempotency_key = $1', [key]),
    ).toBe(1);
  });

  it('lets one of 50 through also where each wants another business', async () => {
    const key = `key-${randomUUID()}`;
    const requests = Array.from({ length: 50 }, () => claimOf({ key }));
    const results = await Promise.all(requests.map((one) => claim(register.pool, one)));
    expect(results.filter(({ status }) => status === 'claimed')).toHaveLength(1);
    expect(results.filter(({ status }) => status === 'known')).toHaveLength(49);
  });

  it('keeps the same key of two accounts apart, business key included', async () => {
    const wishes = { key: `key-${randomUUID()}`, invoice: `inv-${randomUUID()}` };
    const results = await Promise.all(
      (['acct_a', 'acct_b'] as const).map((accountId) =>
        claim(register.pool, claimOf({ ...wishes, accountId })),
      ),
    );
    expect(results.map(({ status }) => status)).toEqual(['claimed', 'claimed']);
  });

  it('tells cases of a key apart', async () => {
    const key = `key-${randomUUID()}`;
    await claimed(register, { key });
    await expect(claimed(register, { key: key.toUpperCase() })).resolves.toBeDefined();
  });

  it('answers what is stored', async () => {
    const file = await claimed(register, { approvalTtlMs: 60_000 });
    const { id, ...answered } = file;
    expect(await stored(register, id)).toStrictEqual(answered);
    expect(file.operation).toMatchObject({ status: 'AWAITING_APPROVAL', version: 1 });
  });

  it('starts as PENDING with its audit and its message to the engine, in one transaction', async () => {
    const { id, operation } = await claimed(register);
    expect(operation.status).toBe('PENDING');
    expect(await auditTypes(register, id)).toEqual(['requested', 'claimed']);
    expect(
      await register.rows('select type, deliveries from outbox_messages where operation_id = $1', [
        id,
      ]),
    ).toEqual([{ type: 'start', deliveries: 0 }]);
  });

  it('asks a person first where it has to, until the database clock says that it is over', async () => {
    const { id, approval, operation } = await claimed(register, { approvalTtlMs: 90_000 });
    expect(await auditTypes(register, id)).toEqual(['requested', 'claimed', 'approval_requested']);
    expect(approval?.status).toBe('pending');
    const ttl = Date.parse(approval?.expiresAt ?? '') - Date.parse(operation.createdAt);
    expect(ttl).toBe(90_000);
  });

  it('leaves no trace where it fails halfway', async () => {
    const first = claimOf({ approvalTtlMs: 60_000 });
    await claim(register.pool, first);
    const second = claimOf({ approvalTtlMs: 60_000 });
    // The approval's id is taken: the last but one statement of the claim fails.
    const broken = { ...second, approvalId: first.approvalId };
    await expect(claim(register.pool, broken)).rejects.toThrow(/approvals_pkey/);
    expect(await tracesOf(second.operation.operationId)).toBe(0);
    expect((await claim(register.pool, second)).status).toBe('claimed');
  });
});

describe('a business key', () => {
  it('goes to one of two keys, and the other leaves no trace', async () => {
    for (let round = 0; round < 10; round++) {
      const invoice = `inv-${randomUUID()}`;
      const requests = [claimOf({ invoice }), claimOf({ invoice })];
      const results = await Promise.all(requests.map((one) => claim(register.pool, one)));
      const won = results.findIndex(({ status }) => status === 'claimed');
      const winner = requests[won]?.operation;
      const loser = requests[1 - won];
      expect(results[1 - won]).toEqual({
        status: 'business_duplicate',
        operationId: winner?.operationId,
      });
      expect(await tracesOf(loser?.operation.operationId ?? '')).toBe(0);
      // Its key is still free.
      const again = claimOf({ key: loser?.operation.idempotencyKey ?? '' });
      expect((await claim(register.pool, again)).status).toBe('claimed');
    }
  });

  it('goes to one of 20 keys at once', async () => {
    const invoice = `inv-${randomUUID()}`;
    const results = await Promise.all(
      Array.from({ length: 20 }, () => claim(register.pool, claimOf({ invoice }))),
    );
    const named = new Set(
      results.map((one) =>
        one.status === 'claimed'
          ? one.operation.operationId
          : one.status === 'business_duplicate' && one.operationId,
      ),
    );
    expect(results.filter(({ status }) => status === 'claimed')).toHaveLength(1);
    expect(named.size).toBe(1);
  });

  it('is asked for only after the key: a repeat of a key is known, not a duplicate', async () => {
    const wishes = { key: `key-${randomUUID()}`, invoice: `inv-${randomUUID()}` };
    await claimed(register, wishes);
    expect((await claim(register.pool, claimOf(wishes))).status).toBe('known');
  });

  it('is none where the kind has none: equal commands are two operations', async () => {
    const results = [
      await claim(register.pool, claimOf({ invoice: null })),
      await claim(register.pool, claimOf({ invoice: null })),
    ];
    expect(results.map(({ status }) => status)).toEqual(['claimed', 'claimed']);
  });

  it.each(OPERATION_STATES)('is held or given back in %s as the contract says', async (state) => {
    const invoice = `inv-${randomUUID()}`;
    const { id } = await operationIn(register, state, { invoice });
    const next = await claim(register.pool, claimOf({ invoice }));
    if (releasesClaims(state)) expect(next.status).toBe('claimed');
    else expect(next).toEqual({ status: 'business_duplicate', operationId: id });
  });

  it('is taken back where a failure turns out to be none', async () => {
    const invoice = `inv-${randomUUID()}`;
    const { id } = await operationIn(register, 'FAILED', { invoice });
    await move(register, id, { to: 'NEEDS_REVIEW', reviewReason: 'evidence_contradicts' });
    expect(await claim(register.pool, claimOf({ invoice }))).toEqual({
      status: 'business_duplicate',
      operationId: id,
    });
  });

  it('stays with whoever has it by then, and both operations name the conflict', async () => {
    const invoice = `inv-${randomUUID()}`;
    const { id } = await operationIn(register, 'FAILED', { invoice });
    const other = await claimed(register, { invoice });
    await move(register, id, { to: 'NEEDS_REVIEW', reviewReason: 'evidence_contradicts' });
    expect((await stored(register, id)).operation.conflictsWith).toBe(other.id);
    expect((await stored(register, other.id)).operation.conflictsWith).toBe(id);
    expect(await claim(register.pool, claimOf({ invoice }))).toEqual({
      status: 'business_duplicate',
      operationId: other.id,
    });
  });
});

describe('a twin', () => {
  const twinOf = (request: ReturnType<typeof claimOf>) => {
    const { operation } = claimOf({ invoice: null });
    return { ...request, operation: { ...operation, fingerprint: request.operation.fingerprint } };
  };
  const equal = () => {
    const request = claimOf({ invoice: null });
    const fingerprint = randomUUID().replaceAll('-', '').padEnd(64, '0');
    return { ...request, operation: { ...request.operation, fingerprint } };
  };

  it('is marked with the equal request before it and runs like any other', async () => {
    const first = equal();
    await claim(register.pool, first);
    const second = await claim(register.pool, twinOf(first));
    expect(second).toMatchObject({
      status: 'claimed',
      operation: { status: 'PENDING', possibleDuplicateOf: first.operation.operationId },
    });
  });

  it('is no twin of what certainly did not happen, of another account, or of the day before', async () => {
    const failed = equal();
    await claim(register.pool, failed);
    await move(register, failed.operation.operationId, { to: 'FAILED' });
    const foreign = equal();
    await claim(register.pool, {
      ...foreign,
      operation: { ...foreign.operation, accountId: 'acct_b', agentId: 'acct_b.agent' },
    });
    const old = equal();
    await claim(register.pool, old);
    await register.rows(
      `update operations set created_at = created_at - interval '25 hours' where operation_id = $1`,
      [old.operation.operationId],
    );
    for (const earlier of [failed, foreign, old]) {
      const result = await claim(register.pool, twinOf(earlier));
      expect(result).toMatchObject({ operation: { possibleDuplicateOf: null } });
    }
  });

  it('is looked for by its fingerprint, also in a plan that was made while the table was empty', async () => {
    const plan = await register.rows(`explain (generic_plan) ${CLAIMS.text}`);
    const scans = plan
      .map((line) => String(line['QUERY PLAN']))
      .filter((line) => / on operations\b/.test(line) && !line.includes('Insert'));
    expect(scans).toEqual([expect.stringContaining('using operations_by_fingerprint')]);
  });
});

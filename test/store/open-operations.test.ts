import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openOperations } from '../../src/store/open-operations.store.ts';
import { openRegister, operationIn, type Register } from '../support/register.ts';

let register: Register;
beforeAll(async () => {
  register = await openRegister();
});
afterAll(() => register.close());

const states = async () =>
  Object.fromEntries((await openOperations(register.pool)).map((one) => [one.state, one]));

describe('the count of open operations', () => {
  it('is empty where there is none', async () => {
    expect(await openOperations(register.pool)).toEqual([]);
  });

  it('groups them by kind, adapter and state, whatever the account, and leaves settled ones out', async () => {
    await operationIn(register, 'PENDING');
    await operationIn(register, 'PENDING');
    await operationIn(register, 'PENDING', { accountId: 'acct_b' });
    await operationIn(register, 'SUCCEEDED');
    await operationIn(register, 'FAILED');
    const groups = await openOperations(register.pool);
    const seen = groups.map((group) => ({ ...group, oldestAgeMs: 0 }));
    const payments = { kind: 'payment', state: 'PENDING', reviewReason: null, oldestAgeMs: 0 };
    expect(new Set(seen)).toEqual(new Set([{ ...payments, adapter: 'sandbox', count: 3 }]));
  });

  it('gives the reason of those that a person has to look at', async () => {
    await operationIn(register, 'NEEDS_REVIEW');
    await operationIn(register, 'AWAITING_APPROVAL');
    expect(await states()).toMatchObject({
      NEEDS_REVIEW: { reviewReason: 'reconcile_deadline', count: 1 },
      AWAITING_APPROVAL: { reviewReason: null, count: 1 },
    });
  });

  it('gives the age of the oldest in its state, by the database clock', async () => {
    await operationIn(register, 'UNKNOWN');
    await register.shiftClock(90_000);
    await operationIn(register, 'UNKNOWN');
    const { UNKNOWN } = await states();
    await register.shiftClock(0);
    expect(UNKNOWN?.count).toBe(2);
    expect(UNKNOWN?.oldestAgeMs).toBeGreaterThanOrEqual(90_000);
    expect(UNKNOWN?.oldestAgeMs).toBeLessThan(120_000);
  });

  it('counts from when an outcome was lost, through all of its reconciliation', async () => {
    const { id } = await operationIn(register, 'RECONCILING');
    await register.pool.query(
      `update operations set unknown_since = unknown_since - interval '1 hour' where operation_id = $1`,
      [id],
    );
    expect((await states())['RECONCILING']?.oldestAgeMs).toBeGreaterThanOrEqual(3_600_000);
  });

  it('reads no history: partial indexes hold the open ones', async () => {
    const { rows } = await register.pool.query<{ indexdef: string }>(
      `select indexdef from pg_indexes where indexname in ('operations_to_sweep', 'operations_to_decide')`,
    );
    expect(rows.map(({ indexdef }) => indexdef).join(' ')).toMatch(/PENDING.*NEEDS_REVIEW/s);
    const client = await register.pool.connect();
    try {
      await client.query(`begin; set local enable_seqscan = off`);
      // The plan of the statement itself: whatever it is, it must be able to do without reading the table.
      const spied: string[] = [];
      await openOperations({
        query: async (text: string) => {
          spied.push(text);
          return { rows: [] };
        },
      } as never);
      const plan = await client.query<{ 'QUERY PLAN': string }>(`explain ${spied[0]}`);
      const text = plan.rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(text).toContain('operations_to_sweep');
      expect(text).toContain('operations_to_decide');
      expect(text).not.toContain('Seq Scan on operations');
    } finally {
      await client.query('rollback');
      client.release();
    }
  });
});

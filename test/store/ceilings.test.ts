// Ceilings are counted where the claim is made: together, claims of one day never exceed them, and what may have acted keeps its share.
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parseMoney } from '../../src/domain/money.ts';
import { OPERATION_STATES, releasesClaims } from '../../src/domain/operation-state.ts';
import { policyCase } from '../../src/domain/policy-case.ts';
import type { KindFacts, Policy } from '../../src/domain/policy.ts';
import { claim, type Claim } from '../../src/store/claims.store.ts';
import type { Pool } from '../../src/store/pool.ts';
import { policyOf } from '../support/policy.ts';
import { claimOf, move, openRegister, operationIn, type Register } from '../support/register.ts';

let register: Register;
beforeAll(async () => {
  register = await openRegister();
});
afterEach(() => register.shiftClock(0));
afterAll(() => register.close());

const ALLOW_ALL = '- { name: all, when: {}, verdict: allow }';
const ceiling = (per: string, more = 'verdict: deny, reason: enough', amount = '10.00') =>
  `- { name: day, kinds: [payment], per: ${per}, at_most_a_day: { USD: ${amount} }, ${more} }`;

interface Wishes {
  readonly amount?: string;
  readonly currency?: string;
  readonly facts?: KindFacts;
  readonly agent?: string;
  readonly key?: string;
}

const asked =
  (policy: Policy, { amount = '1.00', currency = 'USD', facts, agent }: Wishes): Claim['policy'] =>
  () => {
    const parsed = parseMoney(amount, currency);
    if (!parsed.ok) throw new Error(parsed.detail);
    const who = { kind: 'payment', account: 'acct_a', agent: agent ?? 'acct_a.agent', owner: 'o' };
    return policyCase(policy, { money: parsed.money, ...who, ...facts }, false);
  };

/** A claim of a payment before a policy, of `acct_a.agent` unless wished otherwise. */
function claimBefore(policy: Policy, wishes: Wishes = {}, agent = wishes.agent): Claim {
  const wanted = claimOf({
    policy: asked(policy, wishes),
    ...(wishes.key === undefined ? {} : { key: wishes.key }),
  });
  return agent === undefined
    ? wanted
    : { ...wanted, operation: { ...wanted.operation, agentId: agent } };
}

const submit = async (policy: Policy, wishes: Wishes = {}) =>
  (await claim(register.pool, claimBefore(policy, wishes))).status;

/** Each test has a day of its own, so that none counts what another one has claimed. */
let day = 0;
const DAY_MS = 24 * 3_600_000;
const nextDay = () => register.shiftClock(++day * DAY_MS);

describe('a ceiling', () => {
  it.each(['agent', 'destination', 'account'])(
    'per %s lets exactly as many of 20 claims at once pass as fit',
    async (per) => {
      await nextDay();
      const policy = policyOf(ALLOW_ALL, ceiling(per, undefined, '7.00'));
      const statuses = await Promise.all(
        Array.from({ length: 20 }, () => submit(policy, { facts: { destination: 'cus_1' } })),
      );
      expect(statuses.filter((one) => one === 'claimed')).toHaveLength(7);
      expect(statuses.filter((one) => one === 'denied')).toHaveLength(13);
    },
  );

  it('counts each agent, each destination and each account by itself', async () => {
    for (const [per, other] of [
      ['agent', { agent: 'acct_a.agent_2' }],
      ['destination', { facts: { destination: 'cus_2' } }],
    ] as const) {
      await nextDay();
      const policy = policyOf(ALLOW_ALL, ceiling(per));
      const first = { amount: '10.00', facts: { destination: 'cus_1' } };
      expect(await submit(policy, first)).toBe('claimed');
      expect([per, await submit(policy, { ...first, amount: '0.01' })]).toEqual([per, 'denied']);
      expect([per, await submit(policy, { ...first, ...other })]).toEqual([per, 'claimed']);
    }
  });

  it('per account counts all agents and destinations together', async () => {
    await nextDay();
    const policy = policyOf(ALLOW_ALL, ceiling('account'));
    expect(await submit(policy, { amount: '6.00' })).toBe('claimed');
    const other = { agent: 'acct_a.agent_2', facts: { destination: 'cus_2' } };
    expect(await submit(policy, { ...other, amount: '4.01' })).toBe('denied');
    expect(await submit(policy, { ...other, amount: '4.00' })).toBe('claimed');
  });

  it('counts currencies apart, and allows nothing of one that it does not name', async () => {
    await nextDay();
    const two =
      '- { name: day, kinds: [payment], per: account, at_most_a_day: { USD: 10.00, EUR: 5.00 }, verdict: deny, reason: r }';
    const policy = policyOf(ALLOW_ALL, two);
    expect(await submit(policy, { amount: '10.00' })).toBe('claimed');
    expect(await submit(policy, { amount: '5.00', currency: 'EUR' })).toBe('claimed');
    expect(await submit(policy, { amount: '0.01', currency: 'GBP' })).toBe('denied');
  });

  it('begins anew with each day (UTC)', async () => {
    await nextDay();
    const policy = policyOf(ALLOW_ALL, ceiling('account'));
    expect(await submit(policy, { amount: '10.00' })).toBe('claimed');
    expect(await submit(policy)).toBe('denied');
    await nextDay();
    expect(await submit(policy)).toBe('claimed');
  });

  it('may lead to an approval, and what waits for it counts too', async () => {
    await nextDay();
    const policy = policyOf(ALLOW_ALL, ceiling('agent', 'verdict: require_approval, reason: much'));
    const results = [];
    for (const amount of ['10.00', '1.00']) {
      results.push(await claim(register.pool, claimBefore(policy, { amount })));
    }
    expect(results).toMatchObject([
      { operation: { status: 'PENDING' } },
      { operation: { status: 'AWAITING_APPROVAL', plan: { awaits_approval: true } } },
    ]);
    const held = await register.count(
      `select sum(amount_minor) from ceiling_reservations where holds and day =
       (holdfast_now() at time zone 'UTC')::date`,
    );
    expect(held).toBe(1_100);
  });

  it('is asked once for each key: a repeat takes nothing', async () => {
    await nextDay();
    const policy = policyOf(ALLOW_ALL, ceiling('agent'));
    const wanted = { amount: '6.00', key: randomUUID() };
    expect(await submit(policy, wanted)).toBe('claimed');
    expect(await submit(policy, wanted)).toBe('known');
    expect(await submit(policy, { amount: '4.00' })).toBe('claimed');
  });

  it('leaves no trace where it refuses', async () => {
    await nextDay();
    const policy = policyOf(ALLOW_ALL, ceiling('agent', undefined, '0.01'));
    const wanted = claimBefore(policy, {});
    expect((await claim(register.pool, wanted)).status).toBe('denied');
    for (const table of ['operations', 'idempotency_keys', 'ceiling_reservations', 'approvals']) {
      const found = await register.count(`select count(*) from ${table} where operation_id = $1`, [
        wanted.operation.operationId,
      ]);
      expect([table, found]).toEqual([table, 0]);
    }
  });
});

describe('the share of an operation', () => {
  const policy = policyOf(ALLOW_ALL, ceiling('account', undefined, '99.00'));
  const heldPolicy = { ...policy, rules: [] };
  const holds = async (id: string) =>
    (
      await register.rows('select holds from ceiling_reservations where operation_id = $1', [id])
    )[0]?.['holds'];

  it.each(OPERATION_STATES)('in %s is kept unless it certainly did nothing', async (state) => {
    await nextDay();
    const waits = state === 'AWAITING_APPROVAL' || state === 'EXPIRED';
    const { id, operation } = await operationIn(register, state, {
      policy: asked(waits ? heldPolicy : policy, {}),
    });
    expect(operation.status).toBe(state);
    expect(await holds(id)).toBe(!releasesClaims(state));
  });

  it('is taken back by one that may have acted after all', async () => {
    await nextDay();
    const { id } = await operationIn(register, 'FAILED', { policy: asked(policy, {}) });
    expect(await holds(id)).toBe(false);
    await move(register, id, { to: 'NEEDS_REVIEW', reviewReason: 'evidence_contradicts' });
    expect(await holds(id)).toBe(true);
  });
});

describe('a claim that no ceiling and no rule on duplicates applies to', () => {
  it('is one statement, and reserves nothing', async () => {
    await nextDay();
    const statements: unknown[] = [];
    const pool = {
      query: (...query: [never]) => {
        statements.push(query);
        return register.pool.query(...query);
      },
      connect: () => Promise.reject(new Error('no transaction is needed')),
    } as unknown as Pool;
    const other =
      '- { name: day, kinds: [refund], per: agent, at_most_a_day: { USD: 1.00 }, verdict: deny, reason: r }';
    const twins =
      '- { name: twins, when: { kind: refund, possible_duplicate: true }, verdict: deny, reason: r }';
    const wanted = claimBefore(policyOf(`${ALLOW_ALL}\n${twins}`, other));
    expect((await claim(pool, wanted)).status).toBe('claimed');
    expect(statements).toHaveLength(1);
    expect(
      await register.count('select count(*) from ceiling_reservations where operation_id = $1', [
        wanted.operation.operationId,
      ]),
    ).toBe(0);
  });
});

// A person and the provider at the same moment. Whoever comes first settles; a contrary second goes to a person; never both.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WriteOutcome } from '../../src/domain/outcome.ts';
import { storeAttemptOutcome } from '../../src/store/attempts.store.ts';
import { recordLook } from '../../src/store/looks.store.ts';
import { resolveOperation, type ResolveRequest } from '../../src/store/resolutions.store.ts';
import { OUTCOMES } from '../support/operation-file.ts';
import { addOperators, foundAs, looked, lostPayment, OPERATOR } from '../support/operators.ts';
import { openRegister, stored, type Register } from '../support/register.ts';

let register: Register;
beforeAll(async () => {
  register = await openRegister();
  await addOperators(register);
});
afterAll(() => register.close());

const resolve = (operationId: string, outcome: ResolveRequest['outcome'], rules = {}) =>
  resolveOperation(register.pool, {
    operationId,
    outcome,
    evidence: 'seen',
    providerReference: outcome === 'succeeded' ? OUTCOMES.succeeded.reference : null,
    externalCheck: null,
    by: { principalId: OPERATOR, accountId: 'acct_a', owner: `owner-of-${OPERATOR}` },
    rulesOf: () => ({ canLookUp: true, needsTwo: false, ...rules }),
  });

async function lost(): Promise<string> {
  const id = await lostPayment(register);
  await looked(register, id);
  return id;
}

const answer = (id: string, outcome: WriteOutcome) =>
  storeAttemptOutcome(register.pool, id, 1, outcome);

/** The states it was moved to, and what must always hold of the row. */
async function cameTo(id: string): Promise<unknown[]> {
  const { operation } = await stored(register, id);
  const moves = await register.rows(
    `select to_state from audit_events where operation_id = $1 and type = 'transition' order by event_id`,
    [id],
  );
  const states = moves.map((row) => row['to_state']).slice(2);
  expect(states.at(-1)).toBe(operation.status);
  expect(operation.responseBody === null).toBe(operation.status === 'NEEDS_REVIEW');
  const held = await register.count('select count(*) from business_keys where operation_id = $1', [
    id,
  ]);
  expect(held).toBe(operation.status === 'FAILED' ? 0 : 1);
  return states;
}

const PAIRS = [
  ['succeeded', 'succeeded', ['SUCCEEDED']],
  ['failed', 'failed', ['FAILED']],
  ['succeeded', 'failed', ['SUCCEEDED', 'NEEDS_REVIEW']],
  ['failed', 'succeeded', ['FAILED', 'NEEDS_REVIEW']],
] as const;

describe('a person says what the provider then tells of', () => {
  it.each(PAIRS)('%s, then %s', async (said, told, states) => {
    const id = await lost();
    expect((await resolve(id, said)).status).toBe('applied');
    await answer(id, OUTCOMES[told]);
    expect(await cameTo(id)).toEqual(states);
  });

  it.each([
    ['matching', 'done'],
    ['contrary', 'done'],
    ['ambiguous', 'done'],
  ] as const)('failed, then a look that was under way finds it %s and %s', async (match, state) => {
    const id = await lost();
    await resolve(id, 'failed');
    const found = foundAs(state, match);
    await recordLook(register.pool, id, found, () =>
      match === 'matching'
        ? { next: 'settle', definite: OUTCOMES.succeeded }
        : { next: 'review', reason: `effect_${match}` },
    );
    expect(await cameTo(id)).toEqual(['FAILED', 'NEEDS_REVIEW']);
  });
});

describe('the provider tells before the person does', () => {
  it.each(['succeeded', 'failed'] as const)('%s: nothing is left to resolve', async (told) => {
    for (const said of ['succeeded', 'failed'] as const) {
      const id = await lost();
      await answer(id, OUTCOMES[told]);
      expect(await resolve(id, said)).toMatchObject({
        status: 'refused',
        refusal: { code: 'wrong_state' },
      });
      expect(await cameTo(id)).toEqual([told.toUpperCase()]);
    }
  });
});

describe('a person and the provider at once', () => {
  it.each(PAIRS)('%s and %s: one settled state, or a person', async (said, told) => {
    for (let round = 0; round < 12; round++) {
      const id = await lost();
      const both = [() => resolve(id, said), () => answer(id, OUTCOMES[told])];
      if (round % 2 === 1) both.reverse();
      await Promise.all(both.map((begin) => begin()));
      const states = (await cameTo(id)).join();
      const [byPerson, byProvider] = [said.toUpperCase(), told.toUpperCase()];
      const legal = said === told ? [byPerson] : [byProvider, `${byPerson},NEEDS_REVIEW`];
      expect(legal).toContain(states);
    }
  });

  it('two people at once: one is applied, the other is told the state', async () => {
    const id = await lost();
    const results = await Promise.all([resolve(id, 'succeeded'), resolve(id, 'failed')]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['applied', 'refused']);
    expect(await cameTo(id)).toHaveLength(1);
  });
});

describe('where the adapter has no lookup', () => {
  it('a named external check stands for it', async () => {
    const id = await lostPayment(register);
    const refused = await resolve(id, 'failed', { canLookUp: false });
    expect(refused).toMatchObject({ refusal: { code: 'lookup_required' } });
    const named = await resolveOperation(register.pool, {
      operationId: id,
      outcome: 'failed',
      evidence: 'seen',
      providerReference: null,
      externalCheck: 'bank statement',
      by: { principalId: OPERATOR, accountId: 'acct_a', owner: 'somebody else' },
      rulesOf: () => ({ canLookUp: false, needsTwo: false }),
    });
    expect(named.status).toBe('applied');
  });
});

// Two workers, two relays and two sweeps over the same operations: they share the work and never double it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Mode } from '../support/provider-control.ts';
import { freshKey, startSystem, type RunningSystem } from '../support/running-system.ts';

let system: RunningSystem;

beforeAll(async () => {
  system = await startSystem({ apis: 2, workers: 2 });
});
afterAll(() => system.stop());

const SCRIPTS: readonly (readonly Mode[])[] = [
  ['ok'],
  [{ mode: 'delay_then_ok', delay_ms: 1_000 }],
  ['commit_then_reset'],
  ['commit_then_500'],
  ['error_503_not_executed', 'ok'],
];

async function submitMixed(many: number) {
  await system.planFor('cus-two', { refusal_delays_ms: [300, 300, 300, 300] }).catch(() => {});
  return Promise.all(
    Array.from({ length: many }, async (_, n) => {
      const key = freshKey();
      const modes = SCRIPTS[n % SCRIPTS.length] ?? [];
      await system.provider.script(key, ...modes);
      const api = system.apis[n % 2]?.url ?? '';
      const { body } = await system.submit({ key, api, customer_id: 'cus-two' });
      return { key, operationId: body.operation_id, writes: modes.length };
    }),
  );
}

async function expectOneEffectEach(operations: Awaited<ReturnType<typeof submitMixed>>) {
  const seen = await Promise.all(
    operations.map(async ({ operationId }) => {
      const { status } = await system.atRest(operationId);
      return { status, ...(await system.provider.sawOf(operationId)) };
    }),
  );
  for (const [n, { key, writes }] of operations.entries()) {
    expect(seen[n]).toMatchObject({
      status: 'SUCCEEDED',
      effects: 1,
      writes,
      tokens: [key],
      bodies: 1,
      mostInFlight: 1,
    });
  }
}

describe('two workers', () => {
  it('give each of 30 operations one effect', async () => {
    await expectOneEffectEach(await submitMixed(30));
  });

  it('give each one effect also while both sweep everything that is in flight', async () => {
    const operations = await submitMixed(20);
    await Promise.all(operations.map(({ operationId }) => system.sweepNow(operationId)));
    await expectOneEffectEach(operations);
  });

  it('survive the loss of one of them', async () => {
    const operations = await submitMixed(20);
    await system.workers[0]?.kill();
    await expectOneEffectEach(operations);
    expect(await system.openOperations()).toEqual([]);
  });
});

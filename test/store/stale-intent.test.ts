// Contract §6.1: what can't leave within 5 s of its intent doesn't leave at all, whichever clock shows the stall.
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { send } from '../../src/activities/send.ts';
import { fingerprintOf } from '../../src/domain/fingerprint.ts';
import type { WriteOutcome } from '../../src/domain/outcome.ts';
import { createWorkerMetrics } from '../../src/observability/metrics.ts';
import { NO_TRACING } from '../../src/observability/tracing.ts';
import { sandboxProvider } from '../../src/providers/sandbox/sandbox.provider.ts';
import { claim } from '../../src/store/claims.store.ts';
import { DESK } from '../support/desk.ts';
import { OUTCOMES } from '../support/operation-file.ts';
import { claimOf, openRegister, stored, type Register } from '../support/register.ts';
import { SHIPPED_POLICY } from '../support/policy.ts';

let register: Register;
beforeAll(async () => {
  register = await openRegister();
});
afterAll(() => register.close());
afterEach(() => vi.restoreAllMocks());

/** Sends a fresh operation; `duringCommit` runs between the intent's begin and its end. */
async function sendWith(duringCommit: () => void) {
  const wanted = claimOf();
  const { accountId, kind, kindVersion, command, operationId } = wanted.operation;
  const fingerprint = fingerprintOf({ accountId, kind, kindVersion, command });
  await claim(register.pool, { ...wanted, operation: { ...wanted.operation, fingerprint } });
  const file = await stored(register, operationId);
  const { plan } = file.operation;
  const write = vi.fn(async (): Promise<WriteOutcome> => OUTCOMES.succeeded);
  const connection = {
    name: 'sandbox_acct_a',
    adapter: 'sandbox',
    baseUrl: 'http://127.0.0.1:1',
    credential: { from: 'literal', value: 'x' },
    webhookSecret: { from: 'literal', value: 'x' },
    accounts: [accountId],
    kinds: [kind],
  } as const;
  // The first connection is for what the policy is told, the second one for the intent.
  register.pool.once('acquire', () => register.pool.once('acquire', duringCommit));
  await send(
    {
      pool: register.pool,
      providers: () => ({ connection, adapter: { ...sandboxProvider, write }, credential: 'x' }),
      policy: () => SHIPPED_POLICY,
      desk: DESK.verifier,
      worker: 'w-1',
      logger: pino({ level: 'silent' }),
      metrics: createWorkerMetrics(),
      tracing: NO_TRACING,
    },
    { operation_id: operationId, account_id: accountId, kind, fingerprint, plan },
    file,
    'dispatch',
  );
  const { attempts, operation } = await stored(register, operationId);
  return { writes: write.mock.calls.length, outcome: attempts[0]?.outcome, operation };
}

const aheadBy = (clock: { now(): number }, ms: number): void => {
  const now = clock.now.bind(clock);
  vi.spyOn(clock, 'now').mockImplementation(() => now() + ms);
};

describe('an intent whose commit stalls', () => {
  it.each([
    ['a process that was paused', () => aheadBy(performance, 5_001)],
    ['a machine that was suspended, whose monotonic clock stood still', () => aheadBy(Date, 5_001)],
  ])('in %s is not sent', async (_, stall) => {
    const { writes, outcome, operation } = await sendWith(stall);
    expect({ writes, outcome }).toEqual({ writes: 0, outcome: 'not_sent' });
    expect(operation.status).toBe('IN_PROGRESS');
  });

  it('for less than 5 s is sent', async () => {
    const { writes, outcome } = await sendWith(() => aheadBy(performance, 3_000));
    expect({ writes, outcome }).toEqual({ writes: 1, outcome: 'succeeded' });
  });
});

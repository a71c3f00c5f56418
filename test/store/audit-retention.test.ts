// Retention of the audit: whole batches go, oldest first, and what stays can be checked as before.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { checkpointText, type AuditCheckpoint } from '../../src/domain/audit-chain.ts';
import { readCheckpoint } from '../../src/store/audit-sealing.store.ts';
import { appendAudit } from '../../src/store/audit.store.ts';
import { makeKeys } from '../support/audit-log.ts';
import { claimed, openRegister, type Register } from '../support/register.ts';
import { attack, startSealer, type TestSealer } from '../support/sealing.ts';

let register: Register;
let sealer: TestSealer;
beforeAll(async () => {
  register = await openRegister();
  sealer = startSealer(register);
});
afterAll(async () => {
  await register.close();
  sealer.keys.remove();
});
beforeEach(() => register.shiftClock(0));

const HOUR_MS = 3_600_000;
let accounts = 0;

const append = (accountId: string, count: number) =>
  appendAudit(
    register.pool,
    Array.from({ length: count }, () => ({
      accountId,
      operationId: null,
      type: 'refused' as const,
      at: '2026-01-02T03:04:05.678Z',
    })),
  );

/** Two batches of three, two hours ago, and one of now; then a sealer that keeps an hour has looked. */
async function retired(): Promise<{ readonly account: string; readonly by: TestSealer }> {
  const account = `kept_${(accounts += 1)}`;
  for (let n = 0; n < 2; n += 1) {
    await append(account, 3);
    await sealer.sealAll(account);
  }
  await register.shiftClock(2 * HOUR_MS);
  await append(account, 3);
  await sealer.sealAll(account);
  const by = sealer.again(undefined, HOUR_MS);
  await append(account, 1);
  await by.sealAll(account);
  return { account, by };
}

const sequencesOf = async (account: string) =>
  (
    await register.rows(
      'select sequence::int from audit_events where account_id = $1 order by sequence',
      [account],
    )
  ).map((row) => row['sequence']);

describe('retention of the audit', () => {
  it('removes old batches behind a signed checkpoint; the rest is whole by every head', async () => {
    const { account, by } = await retired();
    expect(await sequencesOf(account)).toEqual([7, 8, 9, 10]);
    const checkpoint = (await readCheckpoint(register.pool, account)) as AuditCheckpoint;
    expect(checkpoint.through_sequence).toBe(6);
    const { kid, signature } = checkpoint;
    expect(sealer.keys.verifier.verify(kid, checkpointText(checkpoint), signature)).toBe(true);
    expect(await by.verify(account)).toMatchObject({ ok: true, entries: 4 });
    expect(by.problemOf(account)).toBeUndefined();
  });

  it('is off unless it is asked for', async () => {
    const { account } = await retired();
    const kept = await sequencesOf(account);
    await register.shiftClock(100 * HOUR_MS);
    await append(account, 1);
    await sealer.again().sealAll(account);
    expect(await sequencesOf(account)).toEqual([...kept, 11]);
  });

  it('never removes the newest batch: the next entry is linked to it', async () => {
    const { account, by } = await retired();
    await register.shiftClock(100 * HOUR_MS);
    await append(account, 1);
    await by.sealAll(account);
    expect(await sequencesOf(account)).toEqual([10, 11]);
    expect(await by.verify(account)).toMatchObject({ ok: true });
  });

  it('keeps everything from the oldest entry of an open operation on', async () => {
    await claimed(register);
    await sealer.sealAll('acct_a');
    const before = await sequencesOf('acct_a');
    await register.shiftClock(100 * HOUR_MS);
    await append('acct_a', 1);
    await sealer.again(undefined, HOUR_MS).sealAll('acct_a');
    expect(await sequencesOf('acct_a')).toEqual([...before, before.length + 1]);
  });

  it('done by somebody else is noticed: the checkpoint is not signed', async () => {
    const { account } = await retired();
    const forger = makeKeys();
    const checkpoint = (await readCheckpoint(register.pool, account)) as AuditCheckpoint;
    const { signature: _, ...unsigned } = { ...checkpoint, kid: forger.key.kid };
    const forged = { ...unsigned, signature: forger.key.sign(checkpointText(unsigned)) };
    await attack(
      register,
      `update audit_checkpoints set checkpoint = '${JSON.stringify(forged)}' where account_id = '${account}'`,
    );
    const next = sealer.again();
    await append(account, 1);
    await next.sealOnce();
    expect(next.problemOf(account)).toBe(
      'the signature of the checkpoint is not one of the known keys',
    );
    expect(await next.verify(account)).toMatchObject({ ok: false, signatures: 'invalid' });
    forger.remove();
  });
});

// Evidence of operations that went long ways: what people and providers said along them is borne out by rows, entries and signatures.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { evidenceOf } from '../../src/api/read-evidence.ts';
import { parseEvidence } from '../../src/audit/parse-evidence.ts';
import { verifyEvidence, type EvidenceReport } from '../../src/audit/verify-evidence.ts';
import { MOST_TIMES_ASKED_ANEW } from '../../src/domain/first-intent.ts';
import type { PolicyVerdict } from '../../src/domain/policy.ts';
import { showPreconditions } from '../../src/store/approval-rounds.store.ts';
import { expireApprovalIfDue } from '../../src/store/approvals.store.ts';
import type { FirstIntentReading } from '../../src/store/first-intent.store.ts';
import {
  addApprovers,
  decide,
  held,
  HOUR_MS,
  SECOND,
  TEAMMATE,
  type Held,
} from '../support/approvers.ts';
import { DESK, UNCHANGED } from '../support/desk.ts';
import { OUTCOMES } from '../support/operation-file.ts';
import { attempted, begin, openRegister, stored, type Register } from '../support/register.ts';
import { startSealer, type TestSealer } from '../support/sealing.ts';

let register: Register;
let sealer: TestSealer;
beforeAll(async () => {
  register = await openRegister();
  await addApprovers(register);
  sealer = startSealer(register);
});
afterAll(async () => {
  await register.close();
  sealer.keys.remove();
});

/** What whoever gets the bundle finds, once all is sealed. */
async function verdictOn(
  id: string,
  by: TestSealer = sealer,
  account = 'acct_a',
): Promise<EvidenceReport> {
  await by.sealAll(account);
  const sources = { pool: register.pool, deskKeys: DESK.verifier };
  const bundle = parseEvidence(JSON.stringify(await evidenceOf(sources, account, id)));
  if (!bundle) throw new Error('no bundle');
  return verifyEvidence(bundle, { heads: by.keys.verifier, desk: DESK.verifier });
}

const PROVEN = { verdict: 'proven', reason: null, disagreements: [] };

/** Tries the first intent with what was found for it; answers the approval that is asked for then. */
async function askedAnew({ id }: Held, found: Partial<FirstIntentReading>): Promise<Held> {
  const unchanged = UNCHANGED.reading as FirstIntentReading;
  const reading = { ...unchanged, approvalId: `apr_${randomUUID()}`, ...found };
  await begin(register, id, 'dispatch', { desk: DESK.verifier, reading });
  const { operation, approval } = await stored(register, id);
  return { id, approvalId: approval?.approvalId ?? '', fingerprint: operation.fingerprint };
}

const decided = { rules: ['new'], reasons: ['a new rule'], policyVersion: 'f'.repeat(64) };
const terms = { quorum: 2, approvers: null, ownRequests: false, ttlMs: HOUR_MS };
const ASK_TWO: PolicyVerdict = {
  ...decided,
  verdict: 'require_approval',
  requirement: { ...decided, ...terms },
};

const refundable = (left: number): FirstIntentReading['preconditions'] => ({
  status: 'read',
  values: { refundable: String(left) },
  unmet: null,
  evidence: {},
});

describe('evidence is proven', () => {
  it('where people were asked anew, agreed again, and it was sent', async () => {
    const first = await held(register);
    await decide(register, first);
    const second = await askedAnew(first, { verdict: ASK_TWO });
    await decide(register, second);
    await decide(register, second, { by: SECOND });
    expect(await begin(register, first.id)).toMatchObject({ operation: { status: 'IN_PROGRESS' } });
    expect(await verdictOn(first.id)).toMatchObject({ ...PROVEN, decision_signatures: 'valid' });
  });

  it('where they were asked until nobody was asked any more', async () => {
    let one = await held(register);
    await showPreconditions(register.pool, one.id, { refundable: 'all' });
    for (let round = 0; round <= MOST_TIMES_ASKED_ANEW; round += 1) {
      await decide(register, one);
      one = await askedAnew(one, { preconditions: refundable(round) });
    }
    expect((await stored(register, one.id)).operation.status).toBe('EXPIRED');
    expect(await verdictOn(one.id)).toMatchObject({ ...PROVEN, decision_signatures: 'valid' });
  });

  it('where the same owner said yes and then no, so that the yes is gone', async () => {
    const one = await held(register, { quorum: 2 });
    await decide(register, one);
    expect(await verdictOn(one.id)).toMatchObject(PROVEN);
    await decide(register, one, { by: TEAMMATE, decision: 'rejected' });
    expect(await verdictOn(one.id)).toMatchObject(PROVEN);
  });

  it('where nobody came in time, also after a first yes', async () => {
    const one = await held(register, { quorum: 2 });
    await decide(register, one);
    await register.shiftClock(2 * HOUR_MS);
    expect(await expireApprovalIfDue(register.pool, one.id)).toBe(0);
    expect(await verdictOn(one.id)).toMatchObject(PROVEN);
    await register.shiftClock(0);
  });

  it.each([
    ['pending', [OUTCOMES.pending]],
    ['unknown', [OUTCOMES.unknown]],
    ['refused, then done', [OUTCOMES.not_sent, OUTCOMES.succeeded]],
    ['failed', [OUTCOMES.failed]],
  ] as const)('whatever the provider answered: %s', async (_, outcomes) => {
    const { id } = await attempted(register, outcomes);
    expect(await verdictOn(id)).toMatchObject({ ...PROVEN, decision_signatures: 'none' });
  });
});

describe('evidence proves less', () => {
  it('once retention took what it was claimed with, and says so', async () => {
    // In an account where nothing is open: retention removes nothing behind the first event of what is.
    const account = 'acct_b';
    const done = () => attempted(register, [OUTCOMES.succeeded], { accountId: account });
    const { id } = await done();
    expect(await verdictOn(id, sealer, account)).toMatchObject(PROVEN);
    await register.shiftClock(3 * HOUR_MS);
    await done();
    await sealer.sealAll(account);
    const by = sealer.again(undefined, HOUR_MS);
    await done();
    expect(await verdictOn(id, by, account)).toMatchObject({
      ok: false,
      verdict: 'unproven',
      disagreements: [],
      reason: expect.stringMatching(/retention has removed its claim/),
    });
    await register.shiftClock(0);
  });
});

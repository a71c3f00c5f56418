// The chain over HTTP: its head, its entries, and evidence that convinces without this system.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyEvidence, type EvidenceKeys } from '../../src/audit/verify-evidence.ts';
import { verifyLog } from '../../src/audit/verify-log.ts';
import { personalMembersOf } from '../../src/operations/registry.ts';
import { expireIfDue } from '../../src/store/personal-data.store.ts';
import { headText, type AuditHead } from '../../src/domain/audit-chain.ts';
import type { EvidenceBundle } from '../../src/domain/evidence-bundle.ts';
import { sha256Hex } from '../../src/domain/sha256.ts';
import { newKey, paymentBody, startTestApi, work, type TestApi } from '../support/api.ts';
import { written } from '../support/audit-log.ts';
import { OUTCOMES } from '../support/operation-file.ts';
import { openRegister, type Register } from '../support/register.ts';
import { attack, startSealer, type TestSealer } from '../support/sealing.ts';
import { DESK } from '../support/desk.ts';

let register: Register;
let api: TestApi;
let sealer: TestSealer;
beforeAll(async () => {
  register = await openRegister();
  api = await startTestApi(register);
  sealer = startSealer(register);
});
afterAll(async () => {
  await api.stop();
  await register.close();
  sealer.keys.remove();
});

const keysOf = ({ keys }: TestSealer): EvidenceKeys => ({
  heads: keys.verifier,
  desk: DESK.verifier,
});

const AUDITOR = 'acct_a.auditor';
const get = (path: string, as = AUDITOR) => api.call('GET', path, { as });

/** A payment that has succeeded, in a chain with others. */
async function paid(amount = '10.00'): Promise<string> {
  const [before, own, after] = [newKey(), newKey(), newKey()];
  await api.submit(before, paymentBody());
  const answer = await api.submit(own, paymentBody({ amount }), {
    headers: { 'agent-run-id': 'run-1' },
  });
  const id = String(answer.body['operation_id']);
  await sealer.sealAll('acct_a');
  await work(register, id);
  await api.submit(after, paymentBody());
  await sealer.sealAll('acct_a');
  return id;
}

interface Waiting {
  readonly id: string;
  readonly approvalId: string;
}

/** A payment that waits for people. */
async function held(): Promise<Waiting> {
  const { body } = await api.submit(newKey(), paymentBody({ amount: '5000.00' }));
  const { approval_id: approvalId } = body['approval'] as { approval_id: string };
  return { id: String(body['operation_id']), approvalId };
}

async function decide(approvalId: string, action: 'approve' | 'reject') {
  const shown = await api.call('GET', `/approvals/${approvalId}`, { as: 'acct_a.approver' });
  return api.call('POST', `/approvals/${approvalId}/${action}`, {
    as: 'acct_a.approver',
    headers: { 'content-type': 'application/json' },
    body: { fingerprint: shown.body['fingerprint'] },
  });
}

/** One that a person has agreed to, sealed so far. */
async function approved(): Promise<Waiting> {
  const waiting = await held();
  expect((await decide(waiting.approvalId, 'approve')).status).toBe(200);
  await sealer.sealAll('acct_a');
  return waiting;
}

async function evidenceOf(id: string, as = AUDITOR): Promise<EvidenceBundle> {
  const answer = await get(`/agent/operations/${id}/evidence`, as);
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return answer.body as unknown as EvidenceBundle;
}

describe('the signed head', () => {
  it('is 404 until something is sealed, then the newest one of the caller’s account', async () => {
    expect(await get('/audit/head', 'acct_b.auditor')).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    await paid();
    const answer = await get('/audit/head');
    const head = answer.body as unknown as AuditHead;
    expect(answer.status).toBe(200);
    expect(head).toEqual(sealer.exported('acct_a').at(-1));
    expect(sealer.keys.verifier.verify(head.kid, headText(head), head.signature)).toBe(true);
    expect((await get('/audit/head', 'acct_b.auditor')).status).toBe(404);
  });
});

describe('the export', () => {
  it('has the hashed bytes of every entry, and is whole', async () => {
    await paid();
    const head = (await get('/audit/head')).body as unknown as AuditHead;
    const { text, headers } = await get('/audit/export?account_id=acct_a');
    expect(headers['content-type']).toMatch(/^application\/jsonl/);
    const lines = text.split('\n').slice(0, -1);
    expect(lines).toHaveLength(head.sequence);
    const log = written(sealer.keys.folder, 'export.jsonl', lines);
    expect(await verifyLog(log, [head], sealer.keys.verifier)).toMatchObject({ ok: true });
  });

  it('goes on behind the last sequence that is had, until nothing comes', async () => {
    await paid();
    const whole = (await get('/audit/export')).text;
    let pages = '';
    for (let after = 0; ;) {
      const { text } = await get(`/audit/export?after=${after}&limit=7`);
      if (text === '') break;
      pages += text;
      after += text.split('\n').length - 1;
    }
    expect(pages).toBe(whole);
  });

  it.each([
    'after=-1',
    'after=x',
    'limit=0',
    'limit=5001',
    'limit=05',
    'other=1',
    'after=1&after=2',
  ])('refuses %s', async (query) => {
    expect((await get(`/audit/export?${query}`)).body).toMatchObject({
      status: 400,
      code: 'invalid_parameter',
    });
  });

  it('of another account than the credential’s is 404', async () => {
    expect((await get('/audit/export?account_id=acct_b')).body).toMatchObject({ status: 404 });
    expect((await get('/audit/export', 'acct_b.auditor')).text).toBe('');
  });
});

describe('audit events', () => {
  it('show their place and hash once they are sealed, and then the hashed bytes count', async () => {
    const id = await paid();
    await attack(
      register,
      `update audit_events set to_state = 'FAILED' where operation_id = '${id}' and to_state = 'SUCCEEDED'`,
    );
    const { body } = await get(`/audit/events?operation_id=${id}`);
    const events = body['events'] as Record<string, unknown>[];
    expect(events.at(-1)).toMatchObject({
      to: 'SUCCEEDED',
      sequence: expect.any(Number),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });
});

describe('the evidence of an operation', () => {
  it('proves each of its entries by a signed head, and names no other operation', async () => {
    const id = await paid();
    const bundle = await evidenceOf(id);
    expect(bundle).toMatchObject({ v: 1, unsealed: 0, consistent: true, disagreements: [] });
    expect(bundle.entries.map((line) => JSON.parse(line).type)).toEqual([
      'requested',
      'claimed',
      'intent',
      'transition',
      'sent',
      'provider_answer',
      'transition',
    ]);
    expect(verifyEvidence(bundle, keysOf(sealer))).toMatchObject({ ok: true, entries: 7 });
    expect(bundle.proofs.map(({ head }) => head.account_id)).toEqual(['acct_a', 'acct_a']);
    const ids = new Set(JSON.stringify(bundle).match(/op_[0-9a-f-]{36}/g));
    expect([...ids]).toEqual([id]);
  });

  it('shows what was sent and answered by digest, and holds no command', async () => {
    const id = await paid('12.34');
    const bundle = await evidenceOf(id);
    const [stored] = await register.rows(
      `select response_body, (select request_body from attempts a where a.operation_id = o.operation_id)
       from operations o where operation_id = $1`,
      [id],
    );
    expect(bundle.operation.response_sha256).toBe(sha256Hex(String(stored?.['response_body'])));
    expect(bundle.attempts).toEqual([
      expect.objectContaining({
        number: 1,
        outcome: 'succeeded',
        request_sha256: sha256Hex(String(stored?.['request_body'])),
      }),
    ]);
    expect(bundle.statements).toEqual([
      expect.objectContaining({ type: 'write_answer', verdict: 'succeeded', attempt: 1 }),
    ]);
    expect(JSON.stringify(bundle)).not.toMatch(/12\.34|inv-|cus_1/);
  });

  it('says what events wait for the sealer', async () => {
    const answer = await api.submit(newKey(), paymentBody());
    const bundle = await evidenceOf(String(answer.body['operation_id']));
    expect(bundle).toMatchObject({ entries: [], proofs: [], unsealed: 2, consistent: true });
  });

  it('shows approvals with what was shown, and each signed decision', async () => {
    const { body } = await api.submit(newKey(), paymentBody({ amount: '5000.00' }));
    const id = String(body['operation_id']);
    await register.rows(
      `insert into approval_votes (approval_id, owner, principal_id, decision, decided_at, comment, signed)
       select approval_id, 'owner-1', 'acct_a.approver', 'approved', holdfast_now(), 'private words', '{"kid": "k1"}'
       from approvals where operation_id = $1`,
      [id],
    );
    await sealer.sealAll('acct_a');
    const bundle = await evidenceOf(id);
    expect(bundle.approvals).toEqual([
      expect.objectContaining({
        fingerprint: bundle.operation.fingerprint,
        status: 'pending',
        votes: [
          expect.objectContaining({
            principal_id: 'acct_a.approver',
            decision: 'approved',
            signed: { kid: 'k1' },
          }),
        ],
      }),
    ]);
    expect(JSON.stringify(bundle)).not.toContain('private words');
  });

  it.each([
    [`status = 'FAILED'`, 'the row is FAILED, and the last transition ended in SUCCEEDED'],
    [`fingerprint = repeat('0', 64)`, 'the fingerprint of the row is not the one that was claimed'],
    [
      `provider_reference = 'pay_other'`,
      'the provider reference is not the one that the audit has',
    ],
    [
      `command = command || '{"amount": "11.00"}'`,
      'the stored command does not hash to the fingerprint',
    ],
    [`response_body = '{}'`, 'the stored bytes are not those that the audit has the digest of'],
    [`idempotency_key = 'other'`, 'the idempotency key of the row is not the one that was claimed'],
    [`agent_run = 'other'`, 'the agent run of the row is not the one that was claimed'],
  ])('says where the row was changed: %s', async (change, disagreement) => {
    const id = await paid();
    await attack(register, `update operations set ${change} where operation_id = '${id}'`);
    const bundle = await evidenceOf(id);
    expect(bundle.consistent).toBe(false);
    expect(bundle.disagreements).toContain(disagreement);
    expect(verifyEvidence(bundle, keysOf(sealer))).toMatchObject({ ok: false });
  });

  it('says where an event is missing', async () => {
    const id = await paid();
    await attack(
      register,
      `update audit_events set operation_id = null where operation_id = '${id}' and type = 'transition' and to_state = 'IN_PROGRESS'`,
    );
    expect(await evidenceOf(id)).toMatchObject({
      disagreements: ['a transition begins in IN_PROGRESS, and the one before it ended in PENDING'],
    });
    const other = await paid();
    await attack(
      register,
      `update audit_events set operation_id = null where operation_id = '${other}' and type = 'claimed'`,
    );
    expect(await evidenceOf(other)).toMatchObject({
      disagreements: ['the audit has no claim of this operation'],
    });
  });

  it('says where an approval was written that nobody gave', async () => {
    const { id, approvalId } = await held();
    await attack(
      register,
      `update approvals set status = 'approved', decided_at = holdfast_now() where approval_id = '${approvalId}'`,
    );
    expect(await evidenceOf(id)).toMatchObject({
      consistent: false,
      disagreements: [
        `approval ${approvalId} is approved, and the audit says pending`,
        `approval ${approvalId} is approved, and no valid decisions prove it`,
      ],
    });
  });

  it.each([
    [
      'has another signature',
      `signed = signed || '{"signature": "AAAA"}'`,
      'has no valid signature',
    ],
    [
      'names another owner',
      `signed = jsonb_set(signed, '{approver,owner}', '"x"')`,
      'has no valid signature',
    ],
    ['is no decision', `signed = '{}'`, 'is none that the desk signs'],
    ['is said of another owner', `owner = 'x'`, 'is not the one that was signed'],
  ])('says where the signed decision of a row %s', async (_, change, fault) => {
    const { id, approvalId } = await approved();
    await attack(
      register,
      `update approval_votes set ${change} where approval_id = '${approvalId}'`,
    );
    const bundle = await evidenceOf(id);
    expect(bundle.consistent).toBe(false);
    expect(bundle.disagreements).toContain(
      `the decision of acct_a.approver about approval ${approvalId} ${fault}`,
    );
  });

  it('says where what was agreed to was changed afterwards, or the decision was taken away', async () => {
    const unproved = /is approved, and no valid decisions prove it/;
    for (const change of [
      `update approvals set own_requests = true where approval_id = $id`,
      `update operations set plan = plan || '{"provider_deadline_ms": 1}'
       where operation_id = (select operation_id from approvals where approval_id = $id)`,
      `delete from approval_votes where approval_id = $id`,
      // A day later than its offer lasted.
      `update approvals set decided_at = expires_at + interval '1 day' where approval_id = $id`,
    ]) {
      const { id, approvalId } = await approved();
      await attack(register, change.replaceAll('$id', `'${approvalId}'`));
      const bundle = await evidenceOf(id);
      expect(bundle.disagreements).toContainEqual(expect.stringMatching(unproved));
    }
    const { id, approvalId } = await approved();
    await attack(
      register,
      `delete from approval_votes where approval_id = '${approvalId}'`,
      `delete from approvals where approval_id = '${approvalId}'`,
    );
    expect((await evidenceOf(id)).disagreements).toEqual([
      `approval ${approvalId} is in the audit, and missing beside it`,
    ]);
  });

  it('says where the owner who agreed is the one whose request it is', async () => {
    const { id, approvalId } = await approved();
    await attack(
      register,
      `update principals set owner = 'owner-of-acct_a.approver' where principal_id = 'acct_a.agent'`,
    );
    const bundle = await evidenceOf(id);
    await attack(
      register,
      `update principals set owner = 'owner-of-acct_a.agent' where principal_id = 'acct_a.agent'`,
    );
    expect(bundle.disagreements).toEqual([
      `approval ${approvalId} is approved, and no valid decisions prove it`,
    ]);
  });

  it('agrees with approvals that people gave or refused, also when their time is long over', async () => {
    const all = [await approved(), await approved(), await held(), await held()];
    const [used, , refused, canceled] = all;
    await work(register, used?.id);
    expect((await decide(refused?.approvalId ?? '', 'reject')).status).toBe(200);
    await api.call('POST', `/agent/operations/${canceled?.id}/cancel`);
    await sealer.sealAll('acct_a');
    await register.shiftClock(30 * 24 * 3_600_000);
    for (const { id } of all) {
      const bundle = await evidenceOf(id);
      expect(bundle).toMatchObject({ consistent: true, disagreements: [] });
      expect(verifyEvidence(bundle, keysOf(sealer))).toMatchObject({ ok: true, reason: null });
    }
    await register.shiftClock(0);
    const { operation, approvals } = await evidenceOf(used?.id ?? '');
    expect([operation.status, approvals[0]?.consumed_at]).toEqual([
      'SUCCEEDED',
      expect.any(String),
    ]);
  });

  const removals: [string, (id: string) => Promise<unknown>][] = [
    [
      'an operator erases it',
      (id) => api.call('POST', `/operator/operations/${id}/erase`, { as: 'acct_a.operator' }),
    ],
    ['retention takes it', (id) => expireIfDue(register.pool, id, 0, personalMembersOf)],
  ];
  it.each(removals)(
    'stays whole, and agrees with its row, when what is personal goes: %s',
    async (_, take) => {
      const id = await paid();
      await take(id);
      const after = await api.call('GET', `/agent/operations/${id}`);
      expect(after.text).not.toContain('cus_1');
      await sealer.sealAll('acct_a');
      expect(await sealer.verify('acct_a')).toMatchObject({ ok: true, signatures: 'valid' });
      const bundle = await evidenceOf(id);
      expect(bundle).toMatchObject({ consistent: true, disagreements: [], unsealed: 0 });
      expect(verifyEvidence(bundle, keysOf(sealer))).toMatchObject({ ok: true });
      await attack(
        register,
        `update operations set response_body = '{}' where operation_id = '${id}'`,
      );
      expect(await evidenceOf(id)).toMatchObject({ consistent: false });
    },
  );

  it('agrees with its row whatever state the operation is in', async () => {
    for (const outcome of [OUTCOMES.failed, OUTCOMES.unknown, OUTCOMES.pending]) {
      const answer = await api.submit(newKey(), paymentBody());
      const id = String(answer.body['operation_id']);
      await work(register, id, outcome);
      await sealer.sealAll('acct_a');
      expect(await evidenceOf(id)).toMatchObject({ consistent: true, disagreements: [] });
    }
  });

  it('of another account is 404, with the body of an id that never was', async () => {
    const id = await paid();
    const foreign = await get(`/agent/operations/${id}/evidence`, 'acct_b.auditor');
    expect(foreign.status).toBe(404);
    expect(foreign.text).toBe((await get('/agent/operations/op_never/evidence')).text);
    expect((await get('/agent/operations/%00/evidence')).status).toBe(404);
  });
});

describe.each(['/audit/head', '/audit/export', '/agent/operations/op_1/evidence'])('%s', (path) => {
  it('is for auditors and operators alone, and takes only GET', async () => {
    for (const name of ['agent', 'approver', 'admin']) {
      expect((await get(path, `acct_a.${name}`)).status).toBe(403);
    }
    expect((await api.call('GET', path, { as: null })).status).toBe(401);
    expect(await api.call('POST', path, { as: AUDITOR })).toMatchObject({
      status: 405,
      headers: { allow: 'GET' },
    });
    expect((await get(`${path}?odd=1`)).status).toBe(400);
  });
});

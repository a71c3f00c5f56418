// What is personal goes with retention or at once, out of every table; what keeps the register right stays.
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { isSettled, OPERATION_STATES } from '../../src/domain/operation-state.ts';
import { personalMembersOf } from '../../src/operations/registry.ts';
import { expireOnce } from '../../src/retention/expire.ts';
import { dueToExpire } from '../../src/store/personal-data.store.ts';
import { storeAttemptOutcome } from '../../src/store/attempts.store.ts';
import { grantKind } from '../../src/store/grants.store.ts';
import { inTransaction } from '../../src/store/transaction.ts';
import { patchOperation } from '../../src/store/transitions.store.ts';
import {
  newKey,
  paymentBody,
  startTestApi,
  work,
  type Answer,
  type TestApi,
} from '../support/api.ts';
import { OUTCOMES } from '../support/operation-file.ts';
import { act, addOperators, OPERATOR, SECOND } from '../support/operators.ts';
import {
  auditTypes,
  begin,
  move,
  openRegister,
  operationIn,
  stored,
  traceOf,
  type Register,
} from '../support/register.ts';
import { placesOf } from '../support/whole-database.ts';

const RETENTION_MS = 3_600_000;
const logger = pino({ level: 'silent' });

let register: Register;
let api: TestApi;
beforeAll(async () => {
  register = await openRegister();
  await addOperators(register);
  for (const kind of ['refund', 'ticket']) {
    await grantKind(register.pool, { accountId: 'acct_a', principalId: 'acct_a.agent', kind });
  }
  api = await startTestApi(register);
});
afterAll(async () => {
  await api.stop();
  await register.close();
});
afterEach(() => register.shiftClock(0));

const expire = (personalOf = personalMembersOf) =>
  expireOnce({ pool: register.pool, retentionMs: RETENTION_MS, personalOf, logger });

/** Lets an hour pass and retention work. */
async function age(): Promise<void> {
  await register.shiftClock(RETENTION_MS + 1_000);
  await expire();
}

const erase = (id: string, as?: string) => act(api, id, 'erase', undefined, as);

const submit = (kind: string, key: string, body: unknown): Promise<Answer> =>
  api.call('POST', `/agent/operations/${kind}`, {
    body,
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
  });

/** A payment whose memo and customer are a word of its own, settled as a worker would. */
async function paid(members: object = {}) {
  const word = `word-${randomUUID()}`;
  const [key, body] = [
    newKey(),
    paymentBody({ customer_id: word, memo: `for ${word}`, ...members }),
  ];
  const id = String((await api.submit(key, body)).body['operation_id']);
  await begin(register, id);
  // Where an adapter lets text through that it should not.
  const said = { ...OUTCOMES.succeeded, evidence: { said: word } };
  await register.rows('update attempts set request_body = $2 where operation_id = $1', [
    id,
    JSON.stringify(body),
  ]);
  await storeAttemptOutcome(register.pool, id, 1, said);
  return { id, key, body, word };
}

const repeat = ({ key, body }: { readonly key: string; readonly body: unknown }) =>
  api.submit(key, body);
const read = (id: string) => api.call('GET', `/agent/operations/${id}`);

describe('after retention', () => {
  it('a repeat is 200 replayed with the reduced form and expired_at; a read has the same bytes', async () => {
    const payment = await paid();
    const before = await repeat(payment);
    await age();
    const answer = await repeat(payment);
    const { memo: _memo, customer_id: _customer, ...left } = payment.body;
    expect(answer).toMatchObject({
      status: 200,
      headers: { 'operation-disposition': 'replayed', 'idempotent-replayed': 'true' },
    });
    const { expired_at: expiredAt, ...rest } = answer.body;
    expect(rest).toEqual({ ...before.body, command: { ...left, capture: 'automatic' } });
    expect(Date.parse(String(expiredAt))).toBeGreaterThanOrEqual(
      Date.parse(String(rest['settled_at'])) + RETENTION_MS,
    );
    expect((await read(payment.id)).text).toBe(answer.text);
    expect((await repeat(payment)).text).toBe(answer.text);
  });

  it('no table holds what was personal', async () => {
    const { word } = await paid();
    expect(await placesOf(register.pool, [word])).not.toEqual([]);
    await age();
    expect(await placesOf(register.pool, [word])).toEqual([]);
  });

  it('another request under the key is 409 still', async () => {
    const payment = await paid();
    await age();
    const { memo: _memo, customer_id, ...rest } = payment.body;
    for (const other of [
      { ...payment.body, memo: 'other' },
      { ...rest, customer_id },
    ]) {
      const answer = await api.submit(payment.key, other);
      expect(answer).toMatchObject({ status: 409, body: { code: 'fingerprint_mismatch' } });
    }
  });

  it('its invoice is paid, its refunds are allowed up to what was captured', async () => {
    const payment = await paid();
    await age();
    const again = await api.submit(newKey(), { ...payment.body, memo: 'again' });
    expect(again.body).toMatchObject({ code: 'business_duplicate', operation_id: payment.id });
    const body = { payment_operation_id: payment.id, currency: 'USD', reason: 'asked' };
    const part = await submit('refund', newKey(), { ...body, amount: '6.00' });
    expect(part.status).toBe(202);
    await work(register, part.body['operation_id']);
    await age();
    const more = await submit('refund', newKey(), { ...body, amount: '6.00' });
    expect(more.body).toMatchObject({ code: 'not_refundable' });
    expect((await submit('refund', newKey(), { ...body, amount: '4.00' })).status).toBe(202);
  });

  it('a list finds it by its business key, and no longer by its customer', async () => {
    const { id, word, body } = await paid();
    await age();
    const listed = async (query: string) =>
      (await api.call('GET', `/agent/operations?${query}`)).body['operations'];
    expect(await listed(`customer_id=${word}`)).toEqual([]);
    const byKey = `kind=payment&business_key=${String(body['invoice_id'])}`;
    expect(await listed(byKey)).toMatchObject([{ operation_id: id }]);
  });

  it('two keys of one ticket stand for it still, without its text', async () => {
    const text = { title: 'Ada is ill', description: 'at home', assignee: 'Bob' };
    const body = { project: 'OPS', source_event_id: `evt-${randomUUID()}`, ...text };
    const [first, second] = [newKey(), newKey()];
    const id = (await submit('ticket', first, body)).body['operation_id'];
    await submit('ticket', second, body);
    await work(register, id);
    await age();
    const answer = await submit('ticket', second, body);
    expect(answer).toMatchObject({ status: 200, body: { operation_id: id } });
    expect(answer.headers['operation-disposition']).toBe('reused');
    expect(answer.text).not.toMatch(/Ada|home|Bob/);
    const other = await submit('ticket', second, { ...body, title: 'other' });
    expect(other.body).toMatchObject({ code: 'fingerprint_mismatch' });
  });

  it('a preview with its key is a replay', async () => {
    const payment = await paid();
    await age();
    const answer = await api.call('POST', '/agent/operations/payment/preview', {
      body: payment.body,
      headers: { 'content-type': 'application/json', 'idempotency-key': payment.key },
    });
    expect(answer.body).toMatchObject({ would: 'replay' });
  });

  it('its audit says so, with the hash of the new bytes', async () => {
    const { id } = await paid();
    await age();
    const { operation } = await stored(register, id);
    const events = await register.rows(
      `select principal_id, detail, encode(sha256($2::bytea), 'hex') = response_sha256 as hashed
       from audit_events where operation_id = $1 and type = 'resolved'`,
      [id, Buffer.from(operation.responseBody ?? '')],
    );
    expect(events).toEqual([{ principal_id: null, detail: { step: 'expired' }, hashed: true }]);
  });
});

describe('retention', () => {
  it('finds what is due by an index that holds nothing else for long', async () => {
    const { id } = await paid();
    const spied = vi.spyOn(register.pool, 'query');
    await dueToExpire(register.pool, RETENTION_MS, 10);
    const [sql] = spied.mock.lastCall as unknown as [string];
    spied.mockRestore();
    const plan = await inTransaction(register.pool, async (db) => {
      await db.query('set local enable_seqscan = off');
      const bound = sql.replaceAll('$1', '3600000').replaceAll('$2', '10');
      return JSON.stringify((await db.query(`explain ${bound}`)).rows);
    });
    expect(plan).toContain('operations_to_reduce');
    expect(plan).toContain('Index Cond');
    expect(plan).not.toContain('Filter');
    await erase(id);
  });

  it('touches nothing before its time', async () => {
    const { id } = await paid();
    await register.rows(
      `update operations set words_at = words_at + interval '5 seconds' where operation_id = $1`,
      [id],
    );
    const before = await traceOf(register, id);
    await age();
    expect(await traceOf(register, id)).toEqual(before);
  });

  it.each(OPERATION_STATES.filter((state) => !isSettled(state)))('never ages %s', async (state) => {
    const { id } = await operationIn(register, state);
    const before = await traceOf(register, id);
    await register.shiftClock(100 * RETENTION_MS);
    await expire();
    expect(await traceOf(register, id)).toEqual(before);
  });

  it('takes each operation once, whoever works at the same time', async () => {
    const all = await Promise.all(Array.from({ length: 5 }, () => paid()));
    await register.shiftClock(RETENTION_MS + 1_000);
    await Promise.all(Array.from({ length: 4 }, () => expire()));
    expect(await expire()).toBe(0);
    for (const { id } of all) {
      const words = (await auditTypes(register, id)).filter((one) => one === 'resolved');
      expect(words).toHaveLength(1);
    }
  });

  it('is not held up by an operation that fails, nor by one that somebody works on', async () => {
    const [broken, busy, sound] = [await paid(), await paid(), await paid()];
    await register.rows('update operations set kind_version = 9 where operation_id = $1', [
      broken.id,
    ]);
    await register.shiftClock(RETENTION_MS + 1_000);
    await inTransaction(register.pool, async (db) => {
      await db.query('select 1 from operations where operation_id = $1 for update', [busy.id]);
      expect(await expire()).toBe(1);
    });
    expect((await stored(register, sound.id)).operation.expiredAt).not.toBeNull();
    await register.rows('update operations set kind_version = 1 where operation_id = $1', [
      broken.id,
    ]);
    expect(await expire()).toBe(2);
  });
});

const EVIDENCE_OF = (word: string) => ({ outcome: 'succeeded', evidence: `Seen by ${word}.` });

describe('one that is reopened after retention', () => {
  /** What providers do weeks later: they show another effect, or take the first one back. */
  async function reopened() {
    const payment = await paid();
    await age();
    await move(register, payment.id, {
      to: 'NEEDS_REVIEW',
      reviewReason: 'evidence_contradicts',
    });
    return payment;
  }

  it('is answered 202 and says that its command is not whole; another request is 409', async () => {
    const payment = await reopened();
    const answer = await repeat(payment);
    expect(answer).toMatchObject({
      status: 202,
      body: { status: 'NEEDS_REVIEW', expired_at: expect.any(String) },
    });
    const other = await api.submit(payment.key, { ...payment.body, memo: 'other' });
    expect(other.body).toMatchObject({ code: 'fingerprint_mismatch' });
    expect((await erase(payment.id)).body).toMatchObject({ code: 'wrong_state' });
  });

  it('stands in the queue with its money, is settled by a person, and that word ages as well', async () => {
    const payment = await reopened();
    const queue = await api.call('GET', '/operator/queue', { as: OPERATOR });
    expect(queue.body['operations']).toContainEqual(
      expect.objectContaining({
        operation_id: payment.id,
        money_at_risk: { amount: '10.00', currency: 'USD' },
      }),
    );
    const said = `word-${randomUUID()}`;
    const answer = await act(api, payment.id, 'resolve', EVIDENCE_OF(said), SECOND);
    expect(answer).toMatchObject({ status: 200, body: { status: 'SUCCEEDED' } });
    expect((await repeat(payment)).text).toBe(answer.text);
    expect(await placesOf(register.pool, [said])).toEqual([`evidence.detail: ${said}`]);
    await expire();
    expect(await placesOf(register.pool, [said])).toHaveLength(1);
    await register.shiftClock(2 * RETENTION_MS + 60_000);
    await expire();
    expect(await placesOf(register.pool, [said])).toEqual([]);
  });
});

describe('words that come after they were taken', () => {
  it('with the release of a business key go a retention later, or when they are erased', async () => {
    const said = `word-${randomUUID()}`;
    const [aged, erased] = [await paid(), await paid()];
    await erase(erased.id);
    await age();
    for (const { id } of [aged, erased]) {
      const answer = await act(api, id, 'release', { evidence: said });
      expect(answer.status).toBe(200);
    }
    await erase(erased.id);
    await expire();
    expect(await placesOf(register.pool, [said])).toEqual([`evidence.detail: ${said}`]);
    await register.shiftClock(2 * RETENTION_MS + 60_000);
    await expire();
    expect(await placesOf(register.pool, [said])).toEqual([]);
  });

  it('with a late answer go as well', async () => {
    const word = `word-${randomUUID()}`;
    const { id } = await operationIn(register, 'CANCELED');
    await register.rows(
      `insert into attempts (operation_id, number, purpose, request_body, started_at, worker)
       values ($1, 1, 'dispatch', '{}', now(), 'w-1')`,
      [id],
    );
    await erase(id);
    await register.shiftClock(1_000);
    const error = { code: 'odd', message: word };
    const late = { status: 'failed', error, evidence: { said: word } } as const;
    await storeAttemptOutcome(register.pool, id, 1, late);
    expect(await placesOf(register.pool, [word])).toEqual([
      `attempts.error: ${word}`,
      `evidence.detail: ${word}`,
    ]);
    expect((await erase(id)).status).toBe(200);
    expect(await placesOf(register.pool, [word])).toEqual([]);
  });
});

describe('erasing', () => {
  it('is 200 with the reduced form and erased_at, which repeats and reads get from then on', async () => {
    const payment = await paid();
    const answer = await erase(payment.id);
    expect(answer).toMatchObject({
      status: 200,
      body: { status: 'SUCCEEDED', erased_at: expect.any(String) },
    });
    expect(answer.body).not.toHaveProperty('expired_at');
    expect((await repeat(payment)).text).toBe(answer.text);
    expect((await read(payment.id)).text).toBe(answer.text);
  });

  it('reaches every table: words of the agent, the provider, persons and approvers', async () => {
    const { id, word } = await paid();
    await move(register, id, { to: 'NEEDS_REVIEW', reviewReason: 'evidence_contradicts' });
    await act(api, id, 'resolve', EVIDENCE_OF(word));
    await register.rows(
      `insert into approvals (approval_id, operation_id, fingerprint, status, reason, created_at,
         expires_at)
       values ($1, $2, '', 'approved', '', now(), now())`,
      [`apr_${id}`, id],
    );
    await register.rows(
      `insert into approval_votes values ($1, 'o', 'acct_a.approver', 'approved', now(), $2, '{}')`,
      [`apr_${id}`, `fine with ${word}`],
    );
    await register.rows(
      `update operations set last_error = $2, result = result || $3 where operation_id = $1`,
      [id, { code: 'odd', message: word }, { memo: word }],
    );
    await register.rows('update attempts set error = $2 where operation_id = $1', [
      id,
      { code: 'odd', message: word },
    ]);
    const columns = (await placesOf(register.pool, [word])).map((one) => one.split(':')[0]);
    expect(columns).toEqual([
      'approval_votes.comment',
      'attempts.error',
      'attempts.request_body',
      'evidence.detail',
      'operations.command',
      'operations.last_error',
      'operations.response_body',
      'operations.result',
    ]);
    await erase(id);
    expect(await placesOf(register.pool, [word])).toEqual([]);
  });

  it('again is 200 with the same bytes and writes nothing', async () => {
    const { id } = await paid();
    const first = await erase(id);
    const before = await traceOf(register, id);
    expect(await erase(id, SECOND)).toMatchObject({ status: 200, text: first.text });
    expect(await traceOf(register, id)).toEqual(before);
    await age();
    expect(await traceOf(register, id)).toEqual(before);
  });

  it('after retention is written down too', async () => {
    const { id } = await paid();
    await age();
    expect((await erase(id)).body).toMatchObject({
      expired_at: expect.any(String),
      erased_at: expect.any(String),
    });
  });

  it('is audited as resolved, with who did it and without what was erased', async () => {
    const { id } = await paid();
    await erase(id);
    const events = await register.rows(
      `select principal_id, agent_run, route, detail from audit_events
       where operation_id = $1 and type = 'resolved'`,
      [id],
    );
    expect(events).toEqual([
      {
        principal_id: OPERATOR,
        agent_run: null,
        route: '/operator/operations/{id}/erase',
        detail: { step: 'erased' },
      },
    ]);
  });

  it.each(OPERATION_STATES.filter(isSettled))('is done in %s', async (state) => {
    const { id } = await operationIn(register, state);
    expect(await erase(id)).toMatchObject({ status: 200, body: { status: state } });
    expect((await stored(register, id)).operation.command).not.toHaveProperty('customer_id');
  });

  it.each(OPERATION_STATES.filter((state) => !isSettled(state)))(
    'is 409 wrong_state in %s and takes nothing',
    async (state) => {
      const { id } = await operationIn(register, state);
      const before = await traceOf(register, id);
      expect(await erase(id)).toMatchObject({
        status: 409,
        body: { code: 'wrong_state', operation_status: state },
      });
      expect(await traceOf(register, id)).toEqual(before);
    },
  );

  it('is not undone by somebody who read the operation before', async () => {
    const { id, word } = await paid();
    const stale = await stored(register, id);
    await erase(id);
    const written = await inTransaction(register.pool, (db) =>
      patchOperation(db, stale, stale.operation.updatedAt, {}),
    );
    expect(written).toBeUndefined();
    expect(await placesOf(register.pool, [word])).toEqual([]);
  });

  it('leaves what a provider still says of it as evidence that counts', async () => {
    const { id } = await paid();
    await move(register, id, { to: 'NEEDS_REVIEW', reviewReason: 'evidence_contradicts' });
    await act(api, id, 'resolve', { ...EVIDENCE_OF('x'), provider_reference: 'pay_1' });
    await erase(id);
    const kept = await register.rows(
      `select type, verdict, detail from evidence where operation_id = $1 order by evidence_id`,
      [id],
    );
    const { reference, result } = OUTCOMES.succeeded;
    expect(kept).toEqual([
      { type: 'write_answer', verdict: 'succeeded', detail: { reference, result } },
      { type: 'withdrawn_response', verdict: 'SUCCEEDED', detail: {} },
      {
        type: 'person',
        verdict: 'succeeded',
        detail: { principal_id: OPERATOR, step: 'applied', provider_reference: 'pay_1' },
      },
    ]);
  });
});

import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATION_STATES } from '../../src/domain/operation-state.ts';
import { storeAttemptOutcome } from '../../src/store/attempts.store.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { OUTCOMES } from '../support/operation-file.ts';
import {
  act,
  addOperators,
  COLLEAGUE,
  EVIDENCE,
  foundAs,
  looked,
  lostPayment,
  NO,
  OPERATOR,
  UNAVAILABLE,
  YES,
} from '../support/operators.ts';
import {
  auditTypes,
  begin,
  openRegister,
  operationIn,
  stored,
  traceOf,
} from '../support/register.ts';
import type { Register } from '../support/register.ts';

let register: Register;
let api: TestApi;
beforeAll(async () => {
  register = await openRegister();
  await addOperators(register);
  api = await startTestApi(register);
});
afterAll(async () => {
  await api.stop();
  await register.close();
});

const resolve = (id: string, body: unknown, as?: string) => act(api, id, 'resolve', body, as);
const read = (id: string) => api.call('GET', `/agent/operations/${id}`);

describe('resolving', () => {
  it.each(['UNKNOWN', 'RECONCILING', 'NEEDS_REVIEW'] as const)(
    'settles %s with stored bytes that everybody is answered with',
    async (status) => {
      const id = await lostPayment(register, { status });
      const answer = await resolve(id, { ...YES, provider_reference: 'pay_7' });
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({
        status: 'SUCCEEDED',
        provider: { reference: 'pay_7' },
        result: { provider_reference: 'pay_7' },
        error: null,
      });
      expect((await read(id)).text).toBe(answer.text);
      const { operation } = await stored(register, id);
      expect(operation).toMatchObject({ responseBody: answer.text, resolvedBy: OPERATOR });
      expect(await auditTypes(register, id)).toEqual(
        expect.arrayContaining(['resolved', `transition ${status}>SUCCEEDED`]),
      );
    },
  );

  it('takes reference and result from what the provider has shown where none is named', async () => {
    const id = await lostPayment(register);
    await looked(register, id, foundAs('done'));
    expect((await resolve(id, YES)).body).toMatchObject({
      provider: { reference: 'pay_1' },
      result: { payment_id: 'pay_1', payment_state: 'captured' },
    });
  });

  it.each([
    ['ambiguous', foundAs('done', 'ambiguous')],
    ['contrary', foundAs('done', 'contrary')],
    ['pending', foundAs('pending')],
  ])('adopts no effect that was only shown as %s', async (_, answer) => {
    const id = await lostPayment(register);
    await looked(register, id, answer);
    expect((await resolve(id, YES)).body).toMatchObject({
      status: 'SUCCEEDED',
      provider: { reference: null },
      result: null,
    });
  });

  it('as failed goes by the last lookup that was answered', async () => {
    const id = await lostPayment(register);
    await looked(register, id);
    await looked(register, id, UNAVAILABLE);
    expect((await resolve(id, NO)).body).toMatchObject({ status: 'FAILED' });
  });

  it('as failed gives the invoice back, as succeeded keeps it', async () => {
    const [failed, done] = [await lostPayment(register), await lostPayment(register)];
    await looked(register, failed);
    expect((await resolve(failed, NO)).body).toMatchObject({
      status: 'FAILED',
      error: { code: 'resolved_as_failed' },
      safe_to_use_new_key: true,
    });
    await resolve(done, YES);
    const keys = 'select count(*) from business_keys where operation_id = $1';
    expect(await register.count(keys, [failed])).toBe(0);
    expect(await register.count(keys, [done])).toBe(1);
  });

  it('tells open workflows by the outbox', async () => {
    const id = await lostPayment(register);
    await resolve(id, YES);
    const wakes = `select count(*) from outbox_messages where type = 'wake' and operation_id = $1`;
    expect(await register.count(wakes, [id])).toBe(1);
  });

  it.each(
    OPERATION_STATES.filter((state) => !['UNKNOWN', 'RECONCILING', 'NEEDS_REVIEW'].includes(state)),
  )('is 409 wrong_state in %s, and changes nothing', async (state) => {
    const { id } = await operationIn(register, state);
    const before = await traceOf(register, id);
    expect(await resolve(id, YES)).toMatchObject({
      status: 409,
      body: { code: 'wrong_state', operation_id: id, operation_status: state },
    });
    expect(await traceOf(register, id)).toEqual(before);
  });

  it('is 409 wrong_state when it is repeated, and says what the state is', async () => {
    const id = await lostPayment(register);
    await resolve(id, YES);
    expect(await resolve(id, YES)).toMatchObject({
      status: 409,
      body: { code: 'wrong_state', operation_status: 'SUCCEEDED' },
    });
  });

  it('gives an operation that was reopened new bytes, and the old ones stay as evidence', async () => {
    const id = await lostPayment(register);
    await looked(register, id);
    const first = await resolve(id, NO);
    await storeAttemptOutcome(register.pool, id, 1, OUTCOMES.succeeded);
    expect((await stored(register, id)).operation).toMatchObject({
      status: 'NEEDS_REVIEW',
      reviewReason: 'evidence_contradicts',
      responseBody: null,
    });
    const second = await resolve(id, YES);
    expect(second.body).toMatchObject({ status: 'SUCCEEDED', provider: { reference: 'pay_1' } });
    expect((await read(id)).text).toBe(second.text);
    const withdrawn = await register.rows(
      `select detail ->> 'response_body' as body from evidence
       where operation_id = $1 and type = 'withdrawn_response'`,
      [id],
    );
    expect(withdrawn).toEqual([{ body: first.text }]);
  });
});

describe('what a person gives as evidence', () => {
  it('is kept with who said it, and stands in the audit only as a salted hash', async () => {
    const id = await lostPayment(register);
    await looked(register, id);
    await resolve(id, { ...NO, external_check: 'bank portal', provider_reference: 'pay_1' });
    const [said] = await register.rows(
      `select verdict, detail from evidence where operation_id = $1 and type = 'person'`,
      [id],
    );
    expect(said).toMatchObject({
      verdict: 'failed',
      detail: {
        principal_id: OPERATOR,
        step: 'applied',
        evidence: EVIDENCE,
        external_check: 'bank portal',
        provider_reference: 'pay_1',
      },
    });
    const { salt } = (said as { detail: { salt: string } }).detail;
    const [event] = await register.rows(
      `select * from audit_events where operation_id = $1 and type = 'resolved'`,
      [id],
    );
    expect(event).toMatchObject({
      principal_id: OPERATOR,
      detail: {
        step: 'applied',
        outcome: 'failed',
        evidence_sha256: createHash('sha256').update(`${salt}\n${EVIDENCE}`).digest('hex'),
      },
    });
    const audit = await register.rows('select * from audit_events where operation_id = $1', [id]);
    expect(JSON.stringify(audit)).not.toContain('Ada');
    expect(JSON.stringify(audit)).not.toContain('bank portal');
  });

  it('comes before the transition, which names the same person', async () => {
    const id = await lostPayment(register);
    await resolve(id, YES);
    const events = await register.rows(
      'select type, principal_id from audit_events where operation_id = $1 order by event_id',
      [id],
    );
    expect(events.slice(-2)).toEqual([
      { type: 'resolved', principal_id: OPERATOR },
      { type: 'transition', principal_id: OPERATOR },
    ]);
  });
});

describe('nobody resolves', () => {
  it('what their own owner submitted: 403 own_request, audited', async () => {
    const id = await lostPayment(register);
    expect(await resolve(id, YES, COLLEAGUE)).toMatchObject({
      status: 403,
      body: { code: 'own_request' },
    });
    const refusals = await register.rows(
      `select principal_id, detail from audit_events where operation_id = $1 and type = 'refused'`,
      [id],
    );
    expect(refusals).toEqual([{ principal_id: COLLEAGUE, detail: { code: 'own_request' } }]);
    expect((await stored(register, id)).operation.status).toBe('UNKNOWN');
  });

  it('what their own owner submitted under an alias', async () => {
    const id = await lostPayment(register);
    await register.rows(
      `insert into idempotency_keys
       select account_id, 'alias', operation_id, 1, fingerprint, $2, created_at
       from operations where operation_id = $1`,
      [id, OPERATOR],
    );
    expect((await resolve(id, YES)).body).toMatchObject({ code: 'own_request' });
  });

  it('within the send window of a call that was not answered: 409 not_resolvable', async () => {
    const { id } = await operationIn(register, 'PENDING');
    await begin(register, id);
    await register.rows(`update operations set status = 'UNKNOWN' where operation_id = $1`, [id]);
    await looked(register, id);
    for (const word of [YES, NO]) {
      expect(await resolve(id, word)).toMatchObject({
        status: 409,
        body: { code: 'not_resolvable' },
      });
    }
    expect((await stored(register, id)).operation.status).toBe('UNKNOWN');
  });

  it('as failed while a lost write may still take effect: 409 not_resolvable', async () => {
    const id = await lostPayment(register, { sentMsAgo: 0 });
    await looked(register, id);
    expect((await resolve(id, NO)).body).toMatchObject({ code: 'not_resolvable' });
    expect((await resolve(id, YES)).status).toBe(200);
  });

  it.each([
    ['done', 'matching'],
    ['pending', 'matching'],
    ['done', 'contrary'],
    ['failed', 'ambiguous'],
  ] as const)('as failed what the last lookup found %s, %s', async (state, match) => {
    const id = await lostPayment(register);
    await looked(register, id);
    await looked(register, id, foundAs(state, match));
    // It reached nobody, so it takes nothing back.
    await looked(register, id, UNAVAILABLE);
    expect(await resolve(id, NO)).toMatchObject({ status: 409, body: { code: 'lookup_required' } });
  });

  it('as failed without a lookup of the last 10 minutes', async () => {
    const id = await lostPayment(register);
    expect((await resolve(id, NO)).body).toMatchObject({ code: 'lookup_required' });
    await looked(register, id, UNAVAILABLE);
    expect((await resolve(id, NO)).body).toMatchObject({ code: 'lookup_required' });
    await looked(register, id);
    const age = `update evidence set at = at - $2 * interval '1 second' where operation_id = $1`;
    await register.rows(age, [id, 601]);
    expect((await resolve(id, NO)).body).toMatchObject({ code: 'lookup_required' });
    await register.rows(age, [id, -10]);
    expect((await resolve(id, NO)).body).toMatchObject({ status: 'FAILED' });
  });
});

describe('a body', () => {
  it.each([
    ['without evidence', { outcome: 'succeeded' }, '/evidence'],
    ['with blank evidence', { outcome: 'succeeded', evidence: ' \n' }, '/evidence'],
    ['with an endless evidence', { ...YES, evidence: 'x'.repeat(10_001) }, '/evidence'],
    ['with another outcome', { ...YES, outcome: 'SUCCEEDED' }, '/outcome'],
    ['with an unknown member', { ...YES, force: true }, '/force'],
    ['with an empty reference', { ...YES, provider_reference: '' }, '/provider_reference'],
    [
      'with an invisible reference',
      { ...YES, provider_reference: 'a\u200bb' },
      '/provider_reference',
    ],
    ['that is a list', [YES], ''],
  ])('%s is 422 and names the place', async (_, body, pointer) => {
    const id = await lostPayment(register);
    expect(await resolve(id, body)).toMatchObject({
      status: 422,
      body: { code: 'invalid_command', errors: [expect.objectContaining({ pointer })] },
    });
    expect((await stored(register, id)).operation.status).toBe('UNKNOWN');
  });

  it.each([
    ['null as a member', '{"outcome":"succeeded","evidence":null}'],
    ['a name twice', '{"outcome":"succeeded","evidence":"x","outcome":"failed"}'],
    ['no JSON', 'outcome=succeeded'],
    ['nothing', ''],
  ])('of %s is 400 invalid_json', async (_, body) => {
    const id = await lostPayment(register);
    expect(await resolve(id, body)).toMatchObject({ status: 400, body: { code: 'invalid_json' } });
  });

  it('of another media type is 415, of more than 256 KiB 413, with a query 400', async () => {
    const id = await lostPayment(register);
    const path = `/operator/operations/${id}/resolve`;
    const json = { 'content-type': 'application/json' };
    const plain = { 'content-type': 'text/plain' };
    const large = JSON.stringify({ ...YES, evidence: 'x'.repeat(300_000) });
    const answers = [
      await api.call('POST', path, { as: OPERATOR, headers: plain, body: YES }),
      await api.call('POST', path, { as: OPERATOR, headers: json, body: large }),
      await api.call('POST', `${path}?dry=1`, { as: OPERATOR, headers: json, body: YES }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([415, 413, 400]);
  });
});

// What providers tell by themselves: once per object and state, found by our token, and only as evidence.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProviderEvent } from '../../src/domain/provider-event.ts';
import { applyProviderEvent } from '../../src/store/provider-events.store.ts';
import { attempted, auditTypes, openRegister, stored, type Register } from '../support/register.ts';
import { OUTCOMES } from '../support/operation-file.ts';

let register: Register;
beforeAll(async () => {
  register = await openRegister();
});
afterAll(() => register.close());

const CONNECTION = 'sandbox_acct_a';

function eventOf(token: string, members: Partial<ProviderEvent> = {}): ProviderEvent {
  return {
    eventId: `evt_${randomUUID()}`,
    reference: `pay_${token}`,
    token,
    state: 'done',
    happenedAt: new Date(Date.now() + 1_000).toISOString(),
    ofEarlierAttempt: false,
    result: { payment_id: `pay_${token}` },
    ...members,
  };
}

const apply = (event: ProviderEvent, matches = true, connection = CONNECTION) =>
  applyProviderEvent(register.pool, connection, event, () => matches);

/** A payment that the provider has accepted and not answered yet. */
async function pending() {
  const key = `key-${randomUUID()}`;
  const { id } = await attempted(register, [OUTCOMES.pending], { key });
  return { id, key };
}

describe('an event', () => {
  it('settles an open operation once, however often it is told and under however many ids', async () => {
    const { id, key } = await pending();
    const results = await Promise.all(Array.from({ length: 5 }, () => apply(eventOf(key))));
    expect(results.filter(({ status }) => status === 'recorded')).toHaveLength(1);
    expect(results.filter(({ status }) => status === 'duplicate')).toHaveLength(4);
    const { operation } = await stored(register, id);
    expect(operation).toMatchObject({ status: 'SUCCEEDED', providerReference: `pay_${key}` });
    const transitions = (await auditTypes(register, id)).filter((one) =>
      one.endsWith('>SUCCEEDED'),
    );
    expect(transitions).toHaveLength(1);
  });

  it('tells the runs of the operation that its row changed', async () => {
    const { id, key } = await pending();
    await apply(eventOf(key));
    expect(
      await register.count(
        `select count(*) from outbox_messages where operation_id = $1 and type = 'wake'`,
        [id],
      ),
    ).toBe(1);
  });

  it('about an object that nobody knows changes nothing', async () => {
    expect(await apply(eventOf(`key-${randomUUID()}`))).toEqual({ status: 'unknown_object' });
  });

  it('of another connection is about another object, even with the same token', async () => {
    const { id, key } = await pending();
    expect((await apply(eventOf(key), true, 'sandbox_acct_b')).status).toBe('unknown_object');
    expect((await stored(register, id)).operation.status).toBe('IN_PROGRESS');
  });

  it('about an object with other parameters sends an open operation to a person', async () => {
    const { id, key } = await pending();
    await apply(eventOf(key), false);
    const { operation } = await stored(register, id);
    expect(operation).toMatchObject({ status: 'NEEDS_REVIEW', reviewReason: 'effect_contrary' });
  });

  it('that comes out of order never takes back what is settled', async () => {
    const { id, key } = await pending();
    await apply(eventOf(key));
    const before = (await stored(register, id)).operation.responseBody;
    await apply(eventOf(key, { state: 'pending' }));
    const { operation } = await stored(register, id);
    expect(operation).toMatchObject({ status: 'SUCCEEDED', responseBody: before });
  });

  it('is kept as evidence also where it decides nothing', async () => {
    const { id, key } = await pending();
    await apply(eventOf(key, { state: 'failed', ofEarlierAttempt: true }));
    expect((await stored(register, id)).operation.status).toBe('IN_PROGRESS');
    expect(
      await register.count(
        `select count(*) from evidence where operation_id = $1 and type = 'event'`,
        [id],
      ),
    ).toBe(1);
  });
});

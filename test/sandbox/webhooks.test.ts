import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { PAYMENT, sandbox } from './client.ts';
import { receiver, signatureFor, told } from './receiver.ts';

const statusesOf = (deliveries: readonly { status: number }[]) =>
  deliveries.map(({ status }) => status);

describe('an event', () => {
  it('reaches the endpoint of its account, signed over its bytes, with the object as a lookup shows it', async () => {
    const { ear, provider, deliver } = await told();
    await provider.script('accepted_async');
    await provider.write();
    const { body, deliveries } = await deliver('payment.succeeded');
    expect(body).toEqual({ deliveries: [{ event_id: ear.events()[0]?.id, status: 204 }] });
    expect(deliveries).toHaveLength(1);
    const [one] = ear.received;
    expect(one).toMatchObject({ path: '/connections/acct/events', type: 'application/json' });
    expect(one?.signature).toMatch(/^t=\d{10},v1=[0-9a-f]{64}$/);
    expect(one && signatureFor(one)).toBe(one?.signature);
    const [shown] = (await provider.lookup({ token: 't-1' })).data;
    expect(shown).toMatchObject({ ...PAYMENT, state: 'done' });
    expect(one?.event).toMatchObject({
      id: expect.stringMatching(/^evt_[0-9a-f]{24}$/),
      type: 'payment.succeeded',
      attempt: 'current',
      data: { object: shown },
    });
  });

  it('tells when it happened, however late it is told', async () => {
    const { ear, provider, deliver } = await told();
    const { body } = await provider.write();
    await pause(20);
    await deliver('payment.succeeded');
    expect(ear.events()[0]?.created_at).toBe((body as { created_at: string }).created_at);
  });

  it('is about the token named, else about the newest write that holds a text', async () => {
    const { ear, provider, deliver } = await told();
    const ids = [];
    for (const [token, invoice] of [
      ['a', 'inv-r1'],
      ['b', 'inv-r1'],
      ['c', 'inv-r2'],
    ] as const) {
      ids.push((await provider.write({ token, body: { ...PAYMENT, invoice } })).id);
    }
    await deliver('payment.succeeded', { match: ['r1'], token: 'a' });
    await deliver('payment.succeeded', { match: ['r1'], token: null });
    await deliver('payment.succeeded');
    expect(ear.events().map(({ data }) => data.object.id)).toEqual(ids);
  });

  it('goes to the account of its object only', async () => {
    const [a, b] = [await receiver(), await receiver()];
    const provider = await sandbox({ webhooks: [a.endpoint('a'), b.endpoint('b')] });
    await provider.write({ credential: 'b' });
    await provider.write({ credential: 'c', token: 't-2' });
    const about = (token: string) => {
      const body = { event: 'payment.succeeded', kind: 'payment', token };
      return provider.admin('/admin/webhooks/deliver', body);
    };
    expect((await about('t-1')).status).toBe(200);
    expect(await about('t-2')).toMatchObject({ status: 409, code: 'no_endpoint' });
    expect(await about('t-3')).toMatchObject({ status: 409, code: 'no_such_object' });
    expect([a.received.length, b.received.length]).toEqual([0, 1]);
  });

  it('about an object that nobody knows goes to the first endpoint and changes nothing', async () => {
    const { ear, provider, deliver } = await told();
    await provider.write();
    const before = await provider.effects();
    await deliver('payment.succeeded', { kind: undefined, object: 'unknown' });
    const object = ear.events()[0]?.data.object;
    expect(object).toMatchObject({ object: 'payment', state: 'done', currency: 'USD' });
    expect((await provider.lookup({ reference: object?.id ?? '' })).data).toEqual([]);
    expect(before.map(({ token }) => token)).not.toContain(object?.['token']);
    expect(await provider.effects()).toEqual(before);
  });
});

describe('deliveries', () => {
  it('share one event id and the same bytes, one after the other', async () => {
    let open = 0;
    const { ear, provider, deliver } = await told(async (res) => {
      open += 1;
      await pause(20);
      res.writeHead(open === 1 ? 200 : 500).end();
      open -= 1;
    });
    await provider.write();
    const { deliveries } = await deliver('payment.succeeded', { times: 3 });
    expect(statusesOf(deliveries)).toEqual([200, 200, 200]);
    expect(new Set(deliveries.map((one) => one.event_id)).size).toBe(1);
    expect(new Set(ear.received.map(({ raw }) => raw)).size).toBe(1);
  });

  it('go out at once when asked to', async () => {
    const waiting: (() => void)[] = [];
    const { provider, deliver } = await told((res) => {
      waiting.push(() => res.writeHead(200).end());
      if (waiting.length === 3) for (const answer of waiting) answer();
    });
    await provider.write();
    const { deliveries } = await deliver('payment.succeeded', { times: 3, parallel: true });
    expect(statusesOf(deliveries)).toEqual([200, 200, 200]);
  });

  it('have ids of their own when asked to', async () => {
    const { ear, provider, deliver } = await told();
    await provider.write();
    const wanted = { times: 4, fresh_event_ids: true };
    const { deliveries } = await deliver('payment.succeeded', wanted);
    expect(new Set(deliveries.map((one) => one.event_id)).size).toBe(4);
    expect(ear.events().map(({ id }) => id)).toEqual(deliveries.map((one) => one.event_id));
  });

  it('tell what each was answered, 503 where there was no answer', async () => {
    const { provider, deliver } = await told((res, _, nth) => {
      if (nth === 1) return res.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
      if (nth === 2) return res.writeHead(404).end('{}');
      return res.socket?.destroy();
    });
    await provider.write();
    const { deliveries } = await deliver('payment.succeeded', { times: 3 });
    expect(statusesOf(deliveries)).toEqual([302, 404, 503]);
  });

  it('take a whole step of the case runner, with what is meant for the runner', async () => {
    const { provider, deliver } = await told();
    await provider.write();
    const step = { parallel: 'group', delay_ms: 5, then_wait: ['SUCCEEDED'] };
    expect((await deliver('payment.succeeded', step)).status).toBe(200);
  });

  it('happen on demand only', async () => {
    const { ear, provider } = await told();
    await provider.script('accepted_async', 'decline');
    await provider.write();
    await provider.write({ token: 't-2' });
    await provider.admin('/admin/objects/settle', { kind: 'payment', state: 'done' });
    expect(ear.received).toEqual([]);
  });
});

describe('webhook_before_response', () => {
  it('acts, tells of it, and answers only then', async () => {
    const order: string[] = [];
    const { ear, provider } = await told(async (res, { event }) => {
      const { token, id } = event.data.object;
      const { data } = await provider.lookup({ token: String(token) });
      const repeat = await provider.write();
      order.push(`told of ${id === data[0]?.id ? 'what is there' : 'nothing'}, ${repeat.code}`);
      res.writeHead(200).end();
    });
    await provider.script('webhook_before_response');
    const answer = await provider.write();
    order.push(`answered ${answer.status}`);
    expect(order).toEqual(['told of what is there, token_in_use', 'answered 201']);
    expect(ear.events()).toMatchObject([{ type: 'payment.succeeded', attempt: 'current' }]);
    expect((await provider.write()).status).toBe(200);
    expect(ear.events()).toHaveLength(1);
  });

  it('answers all the same where the receiver takes too long', async () => {
    const { provider } = await told(() => undefined, { webhookWaitMs: 60 });
    await provider.script('webhook_before_response');
    const start = performance.now();
    expect((await provider.write()).status).toBe(201);
    expect(performance.now() - start).toBeGreaterThan(55);
  });

  it('answers an account that has no endpoint', async () => {
    const { ear, provider } = await told();
    await provider.script('webhook_before_response');
    expect((await provider.write({ credential: 'other' })).status).toBe(201);
    expect(ear.received).toEqual([]);
  });
});

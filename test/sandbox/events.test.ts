import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { errorCodeOf, PAYMENT } from './client.ts';
import { told } from './receiver.ts';

describe('what an event makes of its object', () => {
  it.each([
    ['accepted_async', 'payment.succeeded', 'done'],
    ['accepted_async', 'payment.captured', 'done'],
    ['accepted_async', 'payment.failed', 'failed'],
    ['accepted_async', 'payment.authorized', 'pending'],
    ['decline', 'payment.succeeded', 'done'],
    ['decline', 'payment.failed', 'failed'],
    ['ok', 'payment.failed', 'done'],
    ['ok', 'payment.authorized', 'done'],
  ])('after %s, %s leaves it %s', async (mode, event, state) => {
    const { ear, provider, deliver, stateOf } = await told();
    await provider.script(mode);
    await provider.write();
    await deliver(event);
    expect(await stateOf()).toBe(state);
    expect(await provider.effects()).toHaveLength(1);
    expect(ear.events()).toHaveLength(1);
  });

  it('shows the state told, also where the object keeps another', async () => {
    const { ear, provider, deliver } = await told();
    const { body } = await provider.write();
    const { created_at } = body as { created_at: string };
    await pause(5);
    await deliver('payment.failed');
    await deliver('', { event: undefined, events: ['payment.captured', 'payment.authorized'] });
    const [failed, captured, authorized] = ear.events();
    expect(ear.events().map(({ data }) => data.object.state)).toEqual([
      'failed',
      'done',
      'pending',
    ]);
    expect(Date.parse(failed?.created_at ?? '')).toBeGreaterThan(Date.parse(created_at));
    expect([captured?.created_at, authorized?.created_at]).toEqual([created_at, created_at]);
  });

  it('takes the state of the next event only once the one before is answered', async () => {
    const seen: unknown[] = [];
    const { provider, deliver, stateOf } = await told(async (res) => {
      seen.push(await stateOf());
      res.writeHead(200).end();
    });
    await provider.script('accepted_async');
    await provider.write();
    await deliver('', { event: undefined, events: ['payment.failed', 'payment.succeeded'] });
    expect(seen).toEqual(['failed', 'done']);
  });

  it.each(['error_503_not_executed', 'timeout_no_commit', 'error_500_cached'])(
    'makes the effect of a write that ended in %s',
    async (mode) => {
      const { ear, provider, deliver } = await told();
      await provider.script(mode);
      await errorCodeOf(provider.write({ operationId: 'op-1' }));
      expect(await provider.effects()).toEqual([]);
      await deliver('payment.succeeded');
      const [effect] = await provider.effects();
      expect(effect).toMatchObject({
        kind: 'payment',
        token: 't-1',
        operation_id: 'op-1',
        state: 'done',
        amount_minor: '1000',
        request: PAYMENT,
      });
      expect(ear.events()[0]?.data.object.id).toBe(effect?.['id']);
      const again = await provider.write();
      expect(again.status).toBe(mode === 'error_500_cached' ? 500 : 200);
      expect(await provider.effects()).toHaveLength(1);
    },
  );

  it('makes a declined write of one that was not carried out and is told to have failed', async () => {
    const { provider, deliver, stateOf } = await told();
    await provider.script('error_503_not_executed');
    await provider.write();
    await deliver('payment.failed');
    expect(await stateOf()).toBe('failed');
    expect((await provider.write()).code).toBe('card_declined');
    expect(await provider.effects()).toMatchObject([{ state: 'failed' }]);
  });

  it('is not done again by a write that was still waiting to act', async () => {
    const { provider, deliver } = await told(undefined, { hangMs: 80 });
    await provider.script('hang_then_commit');
    const late = provider.write();
    await expect.poll(provider.calls).toHaveLength(1);
    await deliver('payment.succeeded');
    expect(await late).toMatchObject({ status: 200, id: (await provider.effects())[0]?.['id'] });
    expect(await provider.effects()).toHaveLength(1);
  });

  it('is nothing where it tells of an older try, with an older time', async () => {
    const { ear, provider, deliver, stateOf } = await told();
    const started = Date.now();
    await provider.script('accepted_async', 'timeout_no_commit');
    const { id } = await provider.write();
    await deliver('payment.failed', { attempt: 'earlier' });
    await errorCodeOf(provider.write({ token: 't-2' }));
    await deliver('payment.succeeded', { attempt: 'earlier', token: 't-2' });
    expect(await stateOf()).toBe('pending');
    expect(await provider.effects()).toHaveLength(1);
    const [failed, ofNone] = ear.events();
    expect(failed).toMatchObject({ attempt: 'earlier', data: { object: { id, state: 'failed' } } });
    expect(ofNone).toMatchObject({ data: { object: { token: 't-2', amount: '1000' } } });
    for (const event of ear.events()) {
      expect(Date.parse(event.created_at)).toBeLessThan(started);
      expect(event.data.object['created_at']).toBe(event.created_at);
    }
  });
});

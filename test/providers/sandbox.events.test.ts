import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sandboxEvents } from '../../src/providers/sandbox/sandbox.events.ts';

const SECRET = 'whsec';
const NOW_MS = Date.parse('2026-06-01T12:00:00Z');
const OBJECT = {
  id: 'pay_1',
  object: 'payment',
  state: 'done',
  token: 'key-1',
  amount: '1000',
  currency: 'USD',
  customer: 'cus_1',
  invoice: 'inv_1',
  capture: 'automatic',
};
const EVENT = {
  id: 'evt_1',
  type: 'payment.succeeded',
  created_at: '2026-06-01T11:59:58Z',
  attempt: 'current',
  data: { object: OBJECT },
};

function signed(
  body: string,
  {
    secret = SECRET,
    atMs = NOW_MS,
    header,
  }: { secret?: string; atMs?: number; header?: string } = {},
) {
  const seconds = Math.floor(atMs / 1_000);
  const digest = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return {
    body,
    header: () => header ?? `t=${seconds},v1=${digest}`,
    secret: SECRET,
    nowMs: NOW_MS,
  };
}

describe('an event of the sandbox', () => {
  it('is read where its signature is right', () => {
    expect(sandboxEvents.read(signed(JSON.stringify(EVENT)))).toEqual({
      eventId: 'evt_1',
      reference: 'pay_1',
      token: 'key-1',
      state: 'done',
      happenedAt: '2026-06-01T11:59:58.000Z',
      ofEarlierAttempt: false,
      result: { payment_id: 'pay_1', payment_state: 'captured' },
    });
  });

  it('is refused where another secret signed it, or its body was changed', () => {
    const body = JSON.stringify(EVENT);
    expect(sandboxEvents.read(signed(body, { secret: 'other' }))).toBeUndefined();
    const taken = signed(body);
    expect(
      sandboxEvents.read({ ...taken, body: body.replace('"1000"', '"9000"') }),
    ).toBeUndefined();
  });

  it('is refused where its signature is older or newer than five minutes', () => {
    const body = JSON.stringify(EVENT);
    expect(sandboxEvents.read(signed(body, { atMs: NOW_MS - 301_000 }))).toBeUndefined();
    expect(sandboxEvents.read(signed(body, { atMs: NOW_MS + 301_000 }))).toBeUndefined();
    expect(sandboxEvents.read(signed(body, { atMs: NOW_MS - 299_000 }))).toBeDefined();
  });

  it.each(['', 't=1', 'v1=00', 't=,v1=', 'garbage', `t=1,v1=${'0'.repeat(63)}`])(
    'is refused under the signature "%s"',
    (header) => {
      expect(sandboxEvents.read(signed(JSON.stringify(EVENT), { header }))).toBeUndefined();
    },
  );

  it.each([
    'null',
    '[]',
    'not json',
    '{}',
    JSON.stringify({ ...EVENT, id: 1 }),
    JSON.stringify({ ...EVENT, created_at: 'yesterday' }),
    JSON.stringify({ ...EVENT, data: { object: null } }),
    JSON.stringify({ ...EVENT, data: { object: { ...OBJECT, state: 'strange' } } }),
  ])('is refused where it can not be read: %s', (body) => {
    expect(sandboxEvents.read(signed(body))).toBeUndefined();
  });

  it('matches what was sent member by member', () => {
    const sent = JSON.stringify({
      amount: '1000',
      currency: 'USD',
      customer: 'cus_1',
      invoice: 'inv_1',
      capture: 'automatic',
    });
    expect(sandboxEvents.matches(JSON.stringify(EVENT), 'payment', sent)).toBe(true);
    const other = sent.replace('1000', '1001');
    expect(sandboxEvents.matches(JSON.stringify(EVENT), 'payment', other)).toBe(false);
    // Nothing was sent; or what was sent is gone, and then nothing contradicts it.
    expect(sandboxEvents.matches(JSON.stringify(EVENT), 'payment', '')).toBe(false);
    expect(sandboxEvents.matches(JSON.stringify(EVENT), 'payment', null)).toBe(true);
  });
});

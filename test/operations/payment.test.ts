import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAmount } from '../../src/domain/money.ts';
import { payment } from '../../src/operations/payment/payment.operation.ts';
import { sandboxProvider } from '../../src/providers/sandbox/sandbox.provider.ts';
import { commandOf, describeConformance, faultsOf } from '../support/operation-conformance.ts';
import { shippedVerdict } from '../support/policy.ts';

const MINIMAL = { amount: '250.00', currency: 'USD', customer_id: 'cus_1', invoice_id: 'inv-1' };
const COMPLETE = {
  ...MINIMAL,
  capture: 'manual',
  memo: 'for services',
  intended_repeat_of: 'op_1',
};

const id = fc
  .string({ minLength: 1, maxLength: 40, unit: 'grapheme' })
  .filter((text) => text.trim() !== '' && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/u.test(text));
const memo = fc
  .string({ maxLength: 60, unit: 'grapheme' })
  .filter((text) => !/\p{Surrogate}/u.test(text) && !text.includes('\0'));
const money = fc
  .tuple(
    fc.integer({ min: 1, max: 10 ** 12 }),
    fc.constantFrom<[string, number]>(['USD', 2], ['jpy', 0], ['Kwd', 3]),
  )
  .map(([minor, [currency, digits]]) => ({
    amount: formatAmount(String(minor), digits),
    currency,
  }));
const bodies = fc
  .record(
    {
      money,
      customer_id: id,
      invoice_id: id,
      capture: fc.constantFrom('automatic', 'manual'),
      memo,
      intended_repeat_of: fc.constantFrom('op_1', 'op_2'),
    },
    { requiredKeys: ['money', 'customer_id', 'invoice_id'] },
  )
  .map(({ money: { amount, currency }, ...rest }) => ({ amount, currency, ...rest }));

describeConformance({
  definition: payment,
  minimal: MINIMAL,
  complete: COMPLETE,
  bodies,
  spellings: [
    [MINIMAL, { ...MINIMAL, capture: 'automatic' }],
    [MINIMAL, { ...MINIMAL, amount: '250' }],
    [MINIMAL, { ...MINIMAL, amount: '250.0' }],
    [MINIMAL, { ...MINIMAL, currency: 'usd' }],
    [MINIMAL, { ...MINIMAL, customer_id: ' cus_1 ', invoice_id: '\tinv-1\n' }],
    [
      { ...MINIMAL, customer_id: 'Ren\u00e9' },
      { ...MINIMAL, customer_id: 'Rene\u0301' },
    ],
  ],
  adapters: [sandboxProvider],
});

const refused = (members: Record<string, unknown>) =>
  payment.command.safeParse({ ...MINIMAL, ...members });
const messagesOf = (members: Record<string, unknown>) =>
  refused(members).error?.issues.map(({ message }) => message) ?? [];

const keyOf = (members: object) =>
  payment.businessKey(commandOf(payment, { ...MINIMAL, ...members }));
const request = (members: object) =>
  JSON.parse(
    sandboxProvider.requestFor('payment', commandOf(payment, { ...MINIMAL, ...members }), null),
  );

describe('a payment', () => {
  it('is captured at once unless it says otherwise', () => {
    expect(commandOf(payment, MINIMAL)).toEqual({ ...MINIMAL, capture: 'automatic' });
    expect(commandOf(payment, { ...MINIMAL, capture: 'manual' })['capture']).toBe('manual');
    expect(faultsOf(payment, { ...MINIMAL, capture: 'later' })).toEqual(['/capture']);
  });

  it('refuses a number as amount and says how to send it', () => {
    for (const amount of [250, 250.5, 0, -1]) {
      expect(messagesOf({ amount })).toEqual(['send "250.00" as a string']);
    }
  });

  it.each([
    '',
    '0',
    '0.00',
    '-1',
    '+1',
    '1e3',
    '1,000',
    '1.000',
    '01',
    ' 1',
    '1 ',
    '.5',
    '5.',
    'x',
  ])('refuses "%s" as an amount of USD', (amount) => {
    expect(faultsOf(payment, { ...MINIMAL, amount })).toEqual(['/amount']);
  });

  it('refuses more decimals than the currency has', () => {
    expect(faultsOf(payment, { ...MINIMAL, amount: '250.001' })).toEqual(['/amount']);
    expect(faultsOf(payment, { ...MINIMAL, amount: '250.00', currency: 'JPY' })).toEqual([
      '/amount',
    ]);
    expect(faultsOf(payment, { ...MINIMAL, amount: '250.001', currency: 'KWD' })).toEqual([]);
  });

  it.each(['', 'US', 'USDX', 'XYZ', 'u\u017fd', '\uff35SD', 'usd ', 'XXX'])(
    'refuses "%s" as a currency',
    (currency) => {
      expect(faultsOf(payment, { ...MINIMAL, currency })).toEqual(['/currency']);
    },
  );

  it('keeps the memo byte for byte', () => {
    const text = '  Rene\u0301 \u00e9  \n';
    expect(commandOf(payment, { ...MINIMAL, memo: text })['memo']).toBe(text);
    expect(commandOf(payment, { ...MINIMAL, memo: '' })['memo']).toBe('');
  });

  it('bounds the memo and the identifiers', () => {
    expect(faultsOf(payment, { ...MINIMAL, memo: 'm'.repeat(1_000) })).toEqual([]);
    expect(faultsOf(payment, { ...MINIMAL, memo: 'm'.repeat(1_001) })).toEqual(['/memo']);
    const long = { ...MINIMAL, customer_id: 'c'.repeat(256), invoice_id: 'i'.repeat(256) };
    expect(faultsOf(payment, long)).toEqual(['/customer_id', '/invoice_id']);
  });

  it.each(['', '   ', 'a\u200bb', 'a\u0000b', 'a\nb'])('refuses %j as an invoice', (invoice_id) => {
    expect(faultsOf(payment, { ...MINIMAL, invoice_id })).toEqual(['/invoice_id']);
  });

  it('has intended_repeat_of in one spelling, like every identifier', () => {
    const repeat = commandOf(payment, { ...MINIMAL, intended_repeat_of: ' op_1 ' });
    expect(repeat['intended_repeat_of']).toBe('op_1');
    expect(faultsOf(payment, { ...MINIMAL, intended_repeat_of: 'op\u200b_1' })).toEqual([
      '/intended_repeat_of',
    ]);
  });

  it('names every fault at once', () => {
    const found = faultsOf(payment, { amount: 250, currency: 5, customer_id: '', extra: 1 });
    for (const pointer of ['/amount', '/currency', '/invoice_id', '/extra']) {
      expect(found).toContain(pointer);
    }
  });

  it('is one business per invoice, whatever else differs', () => {
    expect(keyOf({})).not.toBeNull();
    expect(keyOf({ amount: '1.00', customer_id: 'cus_2', memo: 'x' })).toBe(keyOf({}));
    expect(keyOf({ invoice_id: ' inv-1 ' })).toBe(keyOf({}));
    expect(keyOf({ invoice_id: 'inv-2' })).not.toBe(keyOf({}));
    expect(keyOf({ invoice_id: 'INV-1' })).not.toBe(keyOf({}));
  });

  it.each([
    ['999.99', 'USD', 'allow'],
    ['1000.00', 'USD', 'require_approval'],
    ['1000', 'eur', 'require_approval'],
    ['149999', 'JPY', 'allow'],
    ['150000', 'JPY', 'require_approval'],
    ['0.001', 'KWD', 'require_approval'],
  ])('of %s %s is decided: %s', (amount, currency, verdict) => {
    const command = commandOf(payment, { ...MINIMAL, amount, currency });
    expect(shippedVerdict(payment, command)).toBe(verdict);
  });

  it('is sent to the sandbox in minor units, as text', () => {
    expect(request({ memo: 'm' })).toEqual({
      amount: '25000',
      currency: 'USD',
      customer: 'cus_1',
      invoice: 'inv-1',
      capture: 'automatic',
      memo: 'm',
    });
    expect(request({ amount: '500', currency: 'JPY' })).toMatchObject({ amount: '500' });
    expect(request({ amount: '1.5', currency: 'KWD' })).toMatchObject({ amount: '1500' });
    expect(request({})).not.toHaveProperty('memo');
  });
});

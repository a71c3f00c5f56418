import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { FINGERPRINT_VERSION, fingerprintOf } from '../../src/domain/fingerprint.ts';

const input = {
  accountId: 'acct_a',
  kind: 'payment',
  kindVersion: 1,
  command: { amount: '10.00', currency: 'USD', customer_id: 'cus_1', invoice_id: 'inv-1' },
};

describe('fingerprint', () => {
  // Written out by hand: a changed form would judge every repeat of a stored operation to be another request.
  it('is SHA-256 over the canonical request, member by member as the contract names them', () => {
    const canonical =
      '{"account_id":"acct_a","command":{"amount":"10.00","currency":"USD","customer_id":"cus_1",' +
      '"invoice_id":"inv-1"},"fingerprint_version":1,"kind":"payment","kind_version":1,' +
      '"method":"POST","route":"/agent/operations/payment"}';
    expect(FINGERPRINT_VERSION).toBe(1);
    expect(fingerprintOf(input)).toBe(createHash('sha256').update(canonical).digest('hex'));
  });

  it('does not depend on the order of members', () => {
    const { amount, currency, customer_id, invoice_id } = input.command;
    const command = { invoice_id, customer_id, currency, amount };
    expect(fingerprintOf({ ...input, command })).toBe(fingerprintOf(input));
  });

  it.each([
    ['account', { accountId: 'acct_b' }],
    ['kind', { kind: 'refund' }],
    ['kind version', { kindVersion: 2 }],
    ['command', { command: { ...input.command, amount: '10.01' } }],
    ['command by one more member', { command: { ...input.command, memo: '' } }],
  ])('differs for another %s', (_, other) => {
    expect(fingerprintOf({ ...input, ...other })).not.toBe(fingerprintOf(input));
  });

  it('keeps the order of lists, which is data', () => {
    const items = [{ sku: 'SKU-A' }, { sku: 'SKU-B' }];
    expect(fingerprintOf({ ...input, command: { items } })).not.toBe(
      fingerprintOf({ ...input, command: { items: items.toReversed() } }),
    );
  });
});

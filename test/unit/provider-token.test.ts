import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { providerTokenFor } from '../../src/domain/provider-token.ts';

const input = {
  installationId: 'inst-1',
  accountId: 'acct_a',
  key: 'k-1',
  ownAccountConnection: true,
  allows: () => true,
};
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const onlyLong = (key: string) => key.length > 10;
const token = ([installationId, accountId, key]: [string, string, string]) =>
  providerTokenFor({ ...input, installationId, accountId, key, ownAccountConnection: false });

describe('provider token', () => {
  it('is the key itself where the card allows it and the connection serves this account alone', () => {
    expect(providerTokenFor(input)).toBe('k-1');
  });

  it('is a UUID where the card refuses the key, which it is asked about', () => {
    expect(providerTokenFor({ ...input, allows: onlyLong })).toMatch(UUID_V4);
    expect(providerTokenFor({ ...input, allows: onlyLong, key: 'k-1234567890' })).toBe(
      'k-1234567890',
    );
  });

  it('is a UUID where accounts share the connection', () => {
    expect(providerTokenFor({ ...input, ownAccountConnection: false })).toMatch(UUID_V4);
  });

  // Fixed by hand: another token for a stored operation would be another effect at the provider.
  it('is the same for the same input, in every version', () => {
    expect(providerTokenFor({ ...input, ownAccountConnection: false })).toBe(
      '63a48db1-a067-44df-b805-255e574a59ee',
    );
  });

  it('differs as soon as installation, account or key differs, wherever one ends', () => {
    const triple = fc.tuple(
      fc.constantFrom('i', 'ia', '"i"', 'i","'),
      fc.constantFrom('a', 'aa', 'k', '"'),
      fc.constantFrom('k', 'ak', '","k', 'kk'),
    );
    fc.assert(
      fc.property(triple, triple, (one, other) => {
        expect(token(one) === token(other)).toBe(one.join('|') === other.join('|'));
      }),
    );
  });

  it('always has the shape of a version 4 UUID', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (key) => {
        expect(providerTokenFor({ ...input, key, ownAccountConnection: false })).toMatch(UUID_V4);
      }),
    );
  });
});

// Arbitrary members of command bodies, for property tests of kinds.
import * as fc from 'fast-check';
import type { FrozenTarget } from '../../src/domain/execution-plan.ts';

/** Anything that can be an identifier. */
export const identifiers = fc
  .string({ minLength: 1, maxLength: 40, unit: 'grapheme' })
  .filter((text) => text.trim() !== '' && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/u.test(text));

/** Anything that strict JSON lets through as text. */
export const texts = fc
  .string({ maxLength: 60, unit: 'grapheme' })
  .filter((text) => !/\p{Surrogate}/u.test(text) && !text.includes('\0'));

/** A plan's target: a payment of 10.00 USD. */
export const PAID_TARGET: FrozenTarget = {
  operation_id: 'op_1',
  provider_reference: 'pay_1',
  amount_minor: '1000',
  currency: 'USD',
};

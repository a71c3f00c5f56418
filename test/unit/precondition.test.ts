import { expect, test } from 'vitest';
import { driftBetween } from '../../src/domain/precondition.ts';

test('what has changed is named with what was shown and what is now', () => {
  expect(
    driftBetween({ refundable: '10.00 USD', a: '1' }, { refundable: '6.00 USD', a: '1' }),
  ).toEqual([{ name: 'refundable', shown: '10.00 USD', now: '6.00 USD' }]);
});

test('a value that came or went is a change', () => {
  expect(driftBetween({ a: '1' }, { b: '2' })).toEqual([
    { name: 'a', shown: '1', now: null },
    { name: 'b', shown: null, now: '2' },
  ]);
  expect(driftBetween({ a: '1' }, { a: '1' })).toEqual([]);
});

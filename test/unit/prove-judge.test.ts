// The judge of `npm run prove`: one that finds nothing wrong would prove nothing.
import { expect, it } from 'vitest';
import { judge, type Evidence } from '../../scripts/prove/judge.mjs';

const KEY = 'k';
const plan = { key: KEY, minor: '100', mode: 'ok' };
const row = {
  operation_id: 'op_1',
  idempotency_key: KEY,
  provider_token: KEY,
  status: 'SUCCEEDED',
  review_reason: null,
};
const effect = {
  id: 'pay_1',
  token: KEY,
  operation_id: 'op_1',
  state: 'done',
  amount_minor: '100',
};
const write = { operation_id: 'op_1', token: KEY, request: { amount: '100' } };
const accepted = { key: KEY, status: 202, disposition: 'created', operationId: 'op_1' };

const GOOD: Evidence = {
  plans: [plan],
  history: [accepted],
  rows: [row],
  effects: [effect],
  writes: [write],
};

const foundIn = (changes: Partial<Evidence>) => {
  const found = Object.entries(judge({ ...GOOD, ...changes }));
  return found.filter(([, list]) => list.length > 0).map(([what]) => what);
};
const failed = { ...row, status: 'FAILED' };
const person = { ...row, status: 'NEEDS_REVIEW' };

it('finds nothing where one effect stands behind one success', () => {
  expect(foundIn({})).toEqual([]);
});

it('lets a lost answer, a refusal by an absent database and a reasoned review pass', () => {
  const history = [{ key: KEY }, { key: KEY, status: 503 }, accepted];
  const rows = [{ ...person, review_reason: 'two_matches' }];
  expect(foundIn({ history, rows })).toEqual([]);
  expect(foundIn({ history: [{ key: KEY }], rows: [], effects: [], writes: [] })).toEqual([]);
});

it.each<[string, string, Partial<Evidence>]>([
  ['a second effect', 'duplicate_effects', { effects: [effect, { ...effect, id: 'pay_2' }] }],
  ['an accepted operation that nobody knows', 'lost', { rows: [], effects: [], writes: [] }],
  ['an effect of no operation', 'lost', { effects: [effect, { ...effect, operation_id: 'x' }] }],
  ['an operation that goes on for ever', 'lost', { rows: [{ ...row, status: 'UNKNOWN' }] }],
  ['a success without an effect', 'wrong_final', { effects: [] }],
  ['another amount', 'wrong_final', { effects: [{ ...effect, amount_minor: '1' }] }],
  ['a failure with an effect', 'wrong_final', { rows: [failed] }],
  ['a person who is not told why', 'wrong_final', { rows: [person] }],
  [
    'two operations of one key',
    'history',
    { history: [accepted, { ...accepted, operationId: 'op_2', disposition: 'replayed' }] },
  ],
  ['two creations', 'history', { history: [accepted, accepted] }],
  ['an answer that nothing explains', 'history', { history: [{ ...accepted, status: 500 }] }],
  [
    'a replay that changes',
    'history',
    {
      history: ['a', 'b'].map((text) => ({
        ...accepted,
        disposition: 'replayed',
        replayed: true,
        text,
      })),
    },
  ],
  ['a write with other bytes', 'history', { writes: [write, { ...write, request: {} }] }],
  ['a write with another token', 'history', { writes: [write, { ...write, token: 'x' }] }],
])('finds %s', (_, what, changes) => {
  expect(foundIn(changes)).toContain(what);
});

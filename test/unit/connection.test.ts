import { describe, expect, it } from 'vitest';
import { connectionFor, connectionProblems, type Connection } from '../../src/domain/connection.ts';

function connection(
  name: string,
  accounts: readonly string[],
  kinds: readonly string[] = ['payment'],
): Connection {
  return {
    name,
    adapter: 'sandbox',
    baseUrl: 'http://127.0.0.1:1',
    webhookSecret: { from: 'literal', value: 'y' },
    accounts,
    kinds,
  };
}
const [A, B] = [connection('a', ['acct_a']), connection('b', ['acct_b'])];

describe('connections', () => {
  it('serve an account and kind each', () => {
    expect(connectionFor([A, B], 'acct_b', 'payment')).toBe(B);
    expect(connectionFor([A, B], 'acct_c', 'payment')).toBeUndefined();
    expect(connectionFor([A, B], 'acct_a', 'refund')).toBeUndefined();
  });

  it('are in order where exactly one serves each account and kind', () => {
    expect(connectionProblems([A, B], ['acct_a', 'acct_b'], ['payment'])).toEqual([]);
  });

  it('are refused with the account and kind that none serves', () => {
    const [problem, ...more] = connectionProblems([A], ['acct_a', 'acct_b'], ['payment']);
    expect(problem).toContain('payment of acct_b');
    expect(more).toEqual([]);
  });

  it('are refused with the names of two that serve the same', () => {
    const twin = connection('twin', ['acct_a', 'acct_b']);
    const problems = connectionProblems([A, twin], ['acct_a', 'acct_b'], ['payment']);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/payment of acct_a.*a, twin/);
  });

  it('are refused where two have one name: an operation keeps the name only', () => {
    const namesake = { ...B, name: 'a' };
    const problems = connectionProblems([A, namesake], ['acct_a', 'acct_b'], ['payment']);
    expect(problems.join()).toContain('a');
    expect(problems).not.toEqual([]);
  });

  it('are judged for every kind of every account', () => {
    const problems = connectionProblems([], ['acct_a', 'acct_b'], ['payment', 'refund']);
    expect(problems).toHaveLength(4);
  });
});

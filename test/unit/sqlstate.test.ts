import { describe, expect, it } from 'vitest';
import { isUnavailable } from '../../src/store/sqlstate.ts';

const withCode = (code: string) => Object.assign(new Error('a message'), { code });

describe('an error of the database', () => {
  it.each([
    ['ECONNREFUSED', 'nobody listens'],
    ['ECONNRESET', 'the connection was cut'],
    ['ETIMEDOUT', 'nobody answered'],
    ['ENOTFOUND', 'the name has no address'],
    ['08006', 'connection failure'],
    ['53300', 'too many connections'],
    ['57P01', 'the server shuts down'],
    ['57P03', 'the server starts up'],
    ['57014', 'the statement took too long'],
  ])('%s means that it may be asked again: %s', (code) => {
    expect(isUnavailable(withCode(code))).toBe(true);
  });

  it.each([
    ['23505', 'a unique key is taken'],
    ['22P02', 'a value is none'],
    ['42P01', 'a table is missing'],
    ['42501', 'a right is missing'],
    ['XX000', 'the server is broken'],
    ['ERR_ASSERTION', 'we are broken'],
  ])('%s means no such thing: %s', (code) => {
    expect(isUnavailable(withCode(code))).toBe(false);
  });

  it.each([
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'timeout exceeded when trying to connect',
    'Query read timeout',
  ])('without a code is known by its message: %s', (message) => {
    expect(isUnavailable(new Error(message))).toBe(true);
  });

  it('of several addresses counts where one of them says so', () => {
    expect(isUnavailable(new AggregateError([withCode('ECONNREFUSED')]))).toBe(true);
    expect(isUnavailable(new AggregateError([new Error('other')]))).toBe(false);
  });

  it.each([undefined, null, 'ECONNREFUSED', { code: 'ECONNREFUSED' }, new Error('other')])(
    'is none where it is %s',
    (error) => {
      expect(isUnavailable(error)).toBe(false);
    },
  );
});

import { describe, expect, it } from 'vitest';
import { errorSummary } from '../../src/observability/error-summary.ts';
import { traceIdOf } from '../../src/observability/trace.ts';

describe('an error in the log', () => {
  it('keeps what broke and where', () => {
    const error = Object.assign(new TypeError('x is not a function'), { code: 'ERR_X' });
    const { type, code, message, stack } = errorSummary(error);
    expect({ type, code, message }).toEqual({
      type: 'TypeError',
      code: 'ERR_X',
      message: 'x is not a function',
    });
    expect(stack).toMatch(/^ {4}at .*error-summary\.test\.ts/);
  });

  it('drops members that quote what it was about', () => {
    const error = Object.assign(new Error('violates check constraint "x"'), {
      code: '23514',
      constraint: 'x',
      detail: 'Failing row contains (secret)',
      where: 'secret',
      request: { headers: { authorization: 'secret' } },
    });
    const told = JSON.stringify(errorSummary(error));
    expect(told).not.toContain('secret');
    expect(told).toContain('"constraint":"x"');
  });

  it('drops messages that quote the text or value they could not read', () => {
    let syntax: unknown;
    try {
      JSON.parse('{"memo": secret');
    } catch (error) {
      syntax = error;
    }
    const postgres = Object.assign(new Error('invalid input syntax for type uuid: "secret"'), {
      code: '22P02',
    });
    for (const error of [syntax, postgres]) {
      expect(JSON.stringify(errorSummary(error))).not.toContain('secret');
    }
  });

  it('follows causes, and not for ever', () => {
    const loop = new Error('first');
    loop.cause = new Error('second', { cause: loop });
    expect(errorSummary(loop)).toMatchObject({ cause: { message: 'second' } });
    expect(JSON.stringify(errorSummary(loop)).length).toBeLessThan(20_000);
  });

  it.each(['text', 7, undefined, null, { authorization: 'secret' }])(
    'that is no error (%s) is told by its type',
    (thrown) => {
      expect(errorSummary(thrown)).toEqual({ type: typeof thrown });
    },
  );
});

describe('the trace id', () => {
  const ID = '4bf92f3577b34da6a3ce929d0e0e4736';

  it('is that of the trace context', () => {
    expect(traceIdOf(`00-${ID}-00f067aa0ba902b7-01`)).toBe(ID);
  });

  it.each([null, undefined, '', ID, 'password=hunter2', `00-${ID.toUpperCase()}-x-01`])(
    'is absent from %s',
    (traceparent) => {
      expect(traceIdOf(traceparent)).toBeUndefined();
    },
  );
});

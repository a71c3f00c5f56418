import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { withQuietErrors } from '../../src/activities/quiet-errors.ts';
import type { OperationActivities } from '../../src/workflows/activities.contract.ts';

/** What the engine is handed where an activity throws this. */
async function handedOver(error: unknown): Promise<unknown> {
  const never = async (): Promise<never> => {
    throw error;
  };
  const all: OperationActivities = {
    dispatch: never,
    resend: never,
    lookUpOutcome: never,
    recordOutcome: never,
    cancelBeforeIntent: never,
    approvalWait: never,
    receiveDecision: never,
  };
  return withQuietErrors(all)
    .resend({} as never)
    .catch((thrown: unknown) => thrown);
}

describe('an error that leaves an activity', () => {
  it('quotes neither the value that Postgres could not read nor its row, also not in a cause', async () => {
    const error = Object.assign(new Error('invalid input syntax for type bigint: "word"'), {
      code: '22P02',
      detail: 'Failing row contains (word)',
      cause: new Error('word'),
    });
    const thrown = await handedOver(error);
    expect(thrown).toBeInstanceOf(ApplicationFailure);
    expect(thrown).toMatchObject({ message: '22P02', type: 'Error', cause: undefined });
    expect(String((thrown as Error).stack)).not.toContain('word');
  });

  it('says what broke', async () => {
    const thrown = await handedOver(new TypeError('x is not a function'));
    expect(thrown).toMatchObject({ message: 'x is not a function', type: 'TypeError' });
    expect((thrown as ApplicationFailure).nonRetryable).toBe(false);
  });

  it('passes as it is where it is the engine’s', async () => {
    const cancelled = new CancelledFailure('cancelled');
    expect(await handedOver(cancelled)).toBe(cancelled);
  });
});

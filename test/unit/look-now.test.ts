import { describe, expect, it } from 'vitest';
import { mayLookNow } from '../../src/domain/look-now.ts';
import { OPERATION_STATES } from '../../src/domain/operation-state.ts';
import { attemptOf, fileOf, planOf, T0 } from '../support/operation-file.ts';

const LATER_MS = Date.parse(T0) + 3_600_000;

describe('looking now', () => {
  it.each(OPERATION_STATES)('with a lost answer, in %s', (status) => {
    const open = ['IN_PROGRESS', 'UNKNOWN', 'RECONCILING', 'NEEDS_REVIEW'].includes(status);
    expect(mayLookNow(fileOf({ status }, [attemptOf(1, 'unknown')]), LATER_MS)).toBe(open);
  });

  it.each([
    ['pending', true],
    ['unknown', true],
    [null, true],
    ['not_sent', false],
  ] as const)('IN_PROGRESS after an attempt that ended %s: %s', (outcome, allowed) => {
    const file = fileOf({ status: 'IN_PROGRESS' }, [attemptOf(1, outcome)]);
    expect(mayLookNow(file, LATER_MS)).toBe(allowed);
  });

  it('leaves a call alone that may still be answered: asking would count it as lost', () => {
    const file = fileOf({ status: 'IN_PROGRESS' }, [attemptOf(1, null)]);
    const endMs = Date.parse(T0) + planOf().reconcile.send_window_ms;
    expect(mayLookNow(file, endMs - 1)).toBe(false);
    expect(mayLookNow(file, endMs)).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import { judgeFirstIntent, type FirstIntentFindings } from '../../src/domain/first-intent.ts';
import type { PolicyVerdict } from '../../src/domain/policy.ts';

const because = { rules: ['r'], reasons: ['now'], policyVersion: 'v2' };
const ALLOW: PolicyVerdict = { ...because, verdict: 'allow' };
const DENY: PolicyVerdict = { ...because, verdict: 'deny' };
const ask = (quorum: number): PolicyVerdict => ({
  ...because,
  verdict: 'require_approval',
  requirement: {
    reasons: ['now'],
    policyVersion: 'v2',
    quorum,
    approvers: null,
    ownRequests: false,
    ttlMs: 1_000,
  },
});
const read = (refundable: string, unmet: string | null = null) =>
  ({ status: 'read', values: { refundable }, unmet, evidence: {} }) as const;
const UNREADABLE = { status: 'unavailable', evidence: {} } as const;
const shown = (refundable: string | null, quorum = 1) => ({
  preconditions: refundable === null ? null : { refundable },
  quorum,
  approvers: null,
  ownRequests: false,
});

const NOTHING: FirstIntentFindings = {
  verdict: ALLOW,
  approval: undefined,
  approversGone: [],
  preconditions: undefined,
};

describe('a first intent', () => {
  it.each<[string, Partial<FirstIntentFindings>]>([
    ['nothing has changed', {}],
    ['the policy asks nobody any more', { verdict: ALLOW, approval: shown(null) }],
    ['the policy asks for less', { verdict: ask(1), approval: shown(null, 2) }],
    ['the policy asks for as much', { verdict: ask(2), approval: shown(null, 2) }],
    ['the target is as it was shown', { approval: shown('10'), preconditions: read('10') }],
    ['nothing was shown of the target', { approval: shown(null), preconditions: read('10') }],
    ['the precondition holds', { preconditions: read('10') }],
  ])('is sent where %s', (_, found) => {
    expect(judgeFirstIntent({ ...NOTHING, ...found })).toEqual({ step: 'send' });
  });

  it.each<[string, Partial<FirstIntentFindings>]>([
    ['after an approval', { approval: shown(null) }],
    ['also where the target can not be read', { preconditions: UNREADABLE }],
    ['also where people would have to be asked', { approversGone: ['p'] }],
  ])('is rejected where the policy denies it now, %s', (_, found) => {
    expect(judgeFirstIntent({ ...NOTHING, ...found, verdict: DENY })).toEqual({ step: 'reject' });
  });

  it.each<[string, Partial<FirstIntentFindings>, object]>([
    [
      'the policy asks for people who were not asked',
      { verdict: ask(1) },
      { policy: { version: 'v2', reasons: ['now'] } },
    ],
    [
      'the policy asks for more people',
      { verdict: ask(2), approval: shown(null) },
      { policy: { version: 'v2', reasons: ['now'] } },
    ],
    [
      'one who agreed has lost the right',
      { approval: shown(null), approversGone: ['p'] },
      { approvers_gone: ['p'] },
    ],
    [
      'the target is not as it was shown',
      { approval: shown('10'), preconditions: read('6', 'too little') },
      { preconditions: [{ name: 'refundable', shown: '10', now: '6' }] },
    ],
  ])('is asked about anew where %s, with what has changed', (_, found, difference) => {
    expect(judgeFirstIntent({ ...NOTHING, ...found })).toEqual({ step: 'ask', difference });
  });

  it.each<[string, Partial<FirstIntentFindings>]>([
    ['without an approval', {}],
    ['with one that was given knowing it', { approval: shown('6') }],
  ])('fails where a precondition does not hold, %s', (_, found) => {
    const preconditions = read('6', 'too little');
    expect(judgeFirstIntent({ ...NOTHING, ...found, preconditions })).toEqual({
      step: 'fail',
      reason: 'too little',
    });
  });

  it('waits where the target can not be read: nothing is taken for met', () => {
    expect(judgeFirstIntent({ ...NOTHING, preconditions: UNREADABLE })).toEqual({
      step: 'unreadable',
    });
  });
});

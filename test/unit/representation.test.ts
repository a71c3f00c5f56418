import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSettled, OPERATION_STATES } from '../../src/domain/operation-state.ts';
import { nextPollMs, renderOperation, representationOf } from '../../src/domain/representation.ts';
import { APPROVAL, attemptOf, fileOf, T0 } from '../support/operation-file.ts';

/** "What a machine should do", contract §4, written out again: next_action / retry / safe_to_use_new_key. */
const CONTRACT: Readonly<Record<string, readonly [string, string, boolean]>> = {
  PENDING: ['poll', 'wait', false],
  IN_PROGRESS: ['poll', 'wait', false],
  UNKNOWN: ['poll', 'wait', false],
  RECONCILING: ['poll', 'wait', false],
  AWAITING_APPROVAL: ['await_approval', 'wait', false],
  NEEDS_REVIEW: ['contact_operator', 'ask_human', false],
  SUCCEEDED: ['none', 'never', false],
  FAILED: ['change_request', 'never', true],
  REJECTED: ['do_not_retry', 'ask_human', false],
  EXPIRED: ['contact_operator', 'ask_human', true],
  CANCELED: ['none', 'never', true],
};

const reversed = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).toReversed()) as T;

const MEMBERS = [
  'operation_id',
  'kind',
  'kind_version',
  'status',
  'message',
  'idempotency_key',
  'fingerprint',
  'command',
  'result',
  'error',
  'agent_id',
  'agent_run',
  'connection',
  'provider',
  'approval',
  'attempts',
  'last_error',
  'unknown_since',
  'possible_duplicate_of',
  'created_at',
  'updated_at',
  'settled_at',
  'next_action',
  'retry',
  'safe_to_use_new_key',
];

describe('the representation of an operation', () => {
  it.each(OPERATION_STATES)('tells a machine what to do in %s', (status) => {
    const shown = representationOf(fileOf({ status }));
    expect([shown.next_action, shown.retry, shown.safe_to_use_new_key]).toEqual(CONTRACT[status]);
  });

  it.each(OPERATION_STATES)('says when to ask again in %s, if asking helps', (status) => {
    const shown = representationOf(fileOf({ status }));
    const polls = CONTRACT[status]?.[0] === 'poll';
    if (polls) expect(shown.next_poll_ms).toBeGreaterThan(0);
    if (isSettled(status)) expect(shown).not.toHaveProperty('next_poll_ms');
    expect(shown.next_poll_ms).toBe(nextPollMs(status));
  });

  it.each(OPERATION_STATES)('has a sentence of its own for %s', (status) => {
    const sentence = representationOf(fileOf({ status })).message;
    expect(sentence).toMatch(/^[A-Z].*\.$/);
    const others = OPERATION_STATES.filter((other) => other !== status);
    const messages = others.map((other) => representationOf(fileOf({ status: other })).message);
    expect(messages).not.toContain(sentence);
  });

  it.each(['UNKNOWN', 'RECONCILING', 'NEEDS_REVIEW'] as const)(
    'says in %s that no new one is to be submitted',
    (status) => {
      expect(representationOf(fileOf({ status })).message).toMatch(/do not submit a new one/i);
    },
  );

  it('calls a new key safe only where nothing was done', () => {
    const safe = OPERATION_STATES.filter(
      (status) => representationOf(fileOf({ status })).safe_to_use_new_key,
    );
    expect(safe.toSorted()).toEqual(['CANCELED', 'EXPIRED', 'FAILED']);
  });

  it.each(MEMBERS)('has the member %s', (member) => {
    expect(representationOf(fileOf())).toHaveProperty(member);
  });

  it('shows attempts, approval and provider by the names of the contract', () => {
    const file = fileOf(
      { status: 'UNKNOWN', providerReference: 'pay_1', unknownSince: T0 },
      [attemptOf(1, 'unknown', { error: { code: 'lost_answer', message: 'lost' } })],
      APPROVAL,
    );
    expect(representationOf(file)).toMatchObject({
      provider: { adapter: 'sandbox', token: 'key-1', reference: 'pay_1' },
      approval: { approval_id: 'apr_1', status: 'pending', expires_at: APPROVAL.expiresAt },
      attempts: [
        {
          number: 1,
          started_at: T0,
          ended_at: T0,
          outcome: 'unknown',
          error: { code: 'lost_answer', message: 'lost' },
          worker: 'w-1',
        },
      ],
      unknown_since: T0,
    });
  });

  it('shows no request bytes, no account and no review reason of ours', () => {
    const text = renderOperation(
      fileOf({ status: 'NEEDS_REVIEW' }, [attemptOf(1, 'unknown', { requestBody: 'SECRET' })]),
    );
    expect(text).not.toContain('SECRET');
    expect(JSON.parse(text)).not.toHaveProperty('account_id');
  });

  it('gives equal bytes for equal files, however their members are ordered', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...OPERATION_STATES),
        fc.array(fc.constantFrom('unknown' as const, 'not_sent' as const), { maxLength: 3 }),
        (status, outcomes) => {
          const attempts = outcomes.map((outcome, n) => attemptOf(n + 1, outcome));
          const file = fileOf({ status }, attempts, APPROVAL);
          const other = {
            approval: reversed(APPROVAL),
            attempts: attempts.map(reversed),
            operation: reversed(file.operation),
          };
          expect(renderOperation(other)).toBe(renderOperation(file));
        },
      ),
    );
  });

  it('shows settled_at in settled states only', () => {
    for (const status of OPERATION_STATES) {
      const shown = representationOf(fileOf({ status, settledAt: T0 }));
      expect(shown.settled_at).toBe(isSettled(status) ? T0 : null);
    }
  });
});

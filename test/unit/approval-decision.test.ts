import { describe, expect, it } from 'vitest';
import {
  checkDecision,
  planHashOf,
  signDecision,
  type DecisionSubject,
} from '../../src/domain/approval-decision.ts';
import type { ApprovalRecord } from '../../src/domain/approval-record.ts';
import { canonicalJson } from '../../src/domain/canonical-json.ts';
import type { JsonValue } from '../../src/domain/strict-json.ts';
import { createDesk, DESK } from '../support/desk.ts';
import { operationOf, planOf, T0 } from '../support/operation-file.ts';
import { recordOf } from '../support/approval-record.ts';

const SUBJECT: DecisionSubject = { operation: operationOf(), approval: recordOf() };
const GIVEN = {
  decision: 'approved',
  approver: { principalId: 'acct_a.approver', owner: 'team-1' },
  decidedAt: T0,
} as const;
const signed = signDecision(DESK.signer, SUBJECT, GIVEN);
const check = (value: unknown, subject: DecisionSubject | undefined = SUBJECT, desk = DESK) =>
  checkDecision(value, subject, desk.verifier);

describe('a signed decision', () => {
  it('has the members of the contract, and is believed', () => {
    expect(Object.keys(signed).toSorted()).toEqual([
      'account_id',
      'approval_id',
      'approver',
      'decided_at',
      'decision',
      'expires_at',
      'fingerprint',
      'idempotency_key',
      'kid',
      'operation_id',
      'plan_hash',
      'policy_version',
      'signature',
      'v',
    ]);
    expect(check(signed)).toEqual(signed);
    expect(check(JSON.parse(JSON.stringify(signed)))).toEqual(signed);
  });

  it('is signed over its RFC 8785 form behind the name of the form', () => {
    const { signature, ...unsigned } = signed;
    const text = `holdfast-approval-v1\n${canonicalJson(unsigned)}`;
    expect(DESK.verifier.verify(signed.kid, text, signature)).toBe(true);
  });

  it.each(Object.keys(signed).filter((name) => name !== 'v'))(
    'is not believed with another %s',
    (name) => {
      const value = Reflect.get(signed, name) as unknown;
      const other =
        name === 'approver'
          ? { principal_id: 'acct_a.approver', owner: 'team-2' }
          : name === 'decision'
            ? 'rejected'
            : `${String(value)}0`;
      expect(check({ ...signed, [name]: other })).toBe('signature_invalid');
    },
  );

  it('is not believed from a desk whose key is not known, whoever it claims to be', () => {
    const stranger = signDecision(createDesk().signer, SUBJECT, GIVEN);
    expect(check(stranger)).toBe('signature_invalid');
    expect(check({ ...stranger, kid: signed.kid })).toBe('signature_invalid');
  });

  const others: [string, DecisionSubject | undefined][] = [
    ['account', about({ accountId: 'acct_b' })],
    ['operation', about({ operationId: 'op_2' })],
    ['key', about({ idempotencyKey: 'key-2' })],
    ['fingerprint', about({ fingerprint: 'cd'.repeat(32) })],
    ['plan', about({ plan: { ...planOf(), provider_deadline_ms: 1 } })],
    ['connection', about({ connection: 'sandbox_acct_b' })],
    ['provider token', about({ providerToken: 'another-token' })],
    ['target', about({ plan: { ...planOf(), target: TARGET } })],
    ['approval', about({}, { approvalId: 'apr_2' })],
    ['quorum', about({}, { quorum: 2 })],
    ['set of approvers', about({}, { approvers: { principals: [], owners: ['team-1'] } })],
    ['rule on own requests', about({}, { ownRequests: true })],
    ['precondition', about({}, { preconditions: { version: '2' } })],
    ['end', about({}, { expiresAt: '2026-01-03T03:04:05.679Z' })],
    ['policy', about({}, { policyVersion: 'p-2' })],
  ];
  it.each(others)('is none about another %s', (_, subject) => {
    expect(check(signed, subject)).toBe('decision_mismatch');
  });

  it('is none about what is not there', () => {
    expect(checkDecision(signed, undefined, DESK.verifier)).toBe('decision_mismatch');
  });

  it.each([
    ['nothing', null],
    ['a text', 'approved'],
    ['a list', [signed]],
    ['an empty object', {}],
    ['a bare approval', { approved: true }],
    ['another version', { ...signed, v: 2 }],
    ['a member more', { ...signed, note: 'x' }],
    ['a member less', { ...signed, kid: undefined }],
    ['a number for a text', { ...signed, fingerprint: 1 }],
    ['another decision', { ...signed, decision: 'maybe' }],
    ['an approver without owner', { ...signed, approver: { principal_id: 'a' } }],
    ['an approver of text', { ...signed, approver: 'a' }],
    ['a lone surrogate', { ...signed, idempotency_key: '\uD800' }],
    ['a member that is too long', { ...signed, idempotency_key: 'a'.repeat(1_001) }],
  ])('is not %s', (_, value) => {
    expect(check(value)).toBe('decision_malformed');
  });
});

const TARGET = {
  operation_id: 'op_0',
  provider_reference: 'pay_0',
  amount_minor: '1',
  currency: 'USD',
};

function about(operation: object, approval: Partial<ApprovalRecord> = {}): DecisionSubject {
  return { operation: operationOf(operation), approval: recordOf(approval) };
}

it('the plan hash is the same for the same plan, whatever the order of its members', () => {
  const turned = Object.fromEntries(Object.entries(planOf()).toReversed()) as unknown as JsonValue;
  expect(planHashOf(about({ plan: turned }))).toBe(planHashOf(SUBJECT));
});

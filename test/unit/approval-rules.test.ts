import { describe, expect, it } from 'vitest';
import { signDecision } from '../../src/domain/approval-decision.ts';
import type { ApprovalRecord } from '../../src/domain/approval-record.ts';
import {
  isRepeat,
  refusalToDecide,
  standingOf,
  type DecisionFacts,
} from '../../src/domain/approval-rules.ts';
import { OPERATION_STATES } from '../../src/domain/operation-state.ts';
import { recordOf, voteOf } from '../support/approval-record.ts';
import { createDesk, DESK } from '../support/desk.ts';
import { operationOf, T0 } from '../support/operation-file.ts';

const BY = { principalId: 'p', owner: 'owner-of-p' };

function facts(
  approval: Partial<ApprovalRecord> = {},
  members: Partial<DecisionFacts> = {},
): DecisionFacts {
  const record = recordOf(approval);
  return {
    approval: record,
    operationStatus: 'AWAITING_APPROVAL',
    wish: { decision: 'approved', fingerprint: record.fingerprint },
    by: BY,
    submitterOwners: ['owner-of-agent'],
    ...members,
  };
}
const codeOf = (one: DecisionFacts) => refusalToDecide(one)?.code;

describe('a decision', () => {
  it('is open to every approver of another owner', () => {
    expect(codeOf(facts())).toBeUndefined();
  });

  it('about what the own owner submitted is refused, unless the policy allows it', () => {
    const submitterOwners = [BY.owner];
    expect(codeOf(facts({}, { submitterOwners }))).toBe('own_request');
    expect(codeOf(facts({ ownRequests: true }, { submitterOwners }))).toBeUndefined();
  });

  it.each([
    ['by name', { principals: ['p'], owners: [] }, undefined],
    ['by owner', { principals: [], owners: ['owner-of-p'] }, undefined],
    ['not at all', { principals: ['q'], owners: ['owner-of-q'] }, 'forbidden'],
    ['as somebody of no list', { principals: [], owners: [] }, 'forbidden'],
  ])('is open to whom the policy names %s', (_, approvers, code) => {
    expect(codeOf(facts({ approvers }))).toBe(code);
  });

  it('about another fingerprint is refused', () => {
    const wish = { decision: 'approved', fingerprint: 'cd'.repeat(32) } as const;
    expect(codeOf(facts({}, { wish }))).toBe('approval_fingerprint_mismatch');
  });

  it.each([
    ['approved', 'approval_decided'],
    ['rejected', 'approval_decided'],
    ['expired', 'approval_expired'],
    ['void', 'wrong_state'],
  ] as const)('about one that is %s is refused as %s', (status, code) => {
    expect(codeOf(facts({ status }))).toBe(code);
  });

  it.each(OPERATION_STATES.filter((state) => state !== 'AWAITING_APPROVAL'))(
    'about an operation in %s is refused',
    (operationStatus) => {
      expect(codeOf(facts({}, { operationStatus }))).toBe('wrong_state');
    },
  );

  it('counts once for an owner, and a no always counts', () => {
    const votes = [voteOf('teammate', { owner: BY.owner })];
    expect(codeOf(facts({ quorum: 2, votes }))).toBe('second_person_required');
    const wish = { decision: 'rejected', fingerprint: recordOf().fingerprint } as const;
    expect(codeOf(facts({ quorum: 2, votes }, { wish }))).toBeUndefined();
  });

  it('is told who may decide before what there is to decide', () => {
    const wish = { decision: 'approved', fingerprint: 'x' } as const;
    const all = { wish, submitterOwners: [BY.owner] };
    expect(codeOf(facts({ status: 'expired' }, all))).toBe('own_request');
    expect(codeOf(facts({ status: 'expired' }, { wish }))).toBe('approval_fingerprint_mismatch');
  });
});

describe('a repeat', () => {
  const votes = [voteOf('p')];

  it.each(['pending', 'approved', 'rejected'] as const)(
    'is the same word of the same person, while it is %s',
    (status) => {
      expect(isRepeat(facts({ status, votes }))).toBe(true);
    },
  );

  it('is none of another person, another word, other content, or of what is over', () => {
    const other = { principalId: 'q', owner: 'owner-of-q' };
    const { fingerprint } = recordOf();
    const none = [
      facts({ votes }, { by: other }),
      facts({ votes: [] }),
      facts({ votes }, { wish: { decision: 'rejected', fingerprint } }),
      facts({ votes }, { wish: { decision: 'approved', fingerprint: 'cd'.repeat(32) } }),
      facts({ status: 'expired', votes }),
      facts({ status: 'void', votes }),
    ];
    for (const one of none) expect(isRepeat(one)).toBe(false);
  });
});

describe('what decisions come to', () => {
  const operation = operationOf();
  const NOW = '2026-01-02T04:00:00.000Z';

  /** Approvals with a signed word of each. */
  function approvedBy(owners: readonly string[], members: Partial<ApprovalRecord> = {}) {
    const approval = recordOf({ status: 'approved', ...members });
    const votes = owners.map((owner) =>
      voteOf(`p-of-${owner}`, {
        owner,
        signed: signDecision(
          DESK.signer,
          { operation, approval },
          { decision: 'approved', approver: { principalId: 'p', owner }, decidedAt: T0 },
        ),
      }),
    );
    return { ...approval, votes };
  }
  const standing = (approval: ApprovalRecord, submitters: readonly string[] = [], now = NOW) =>
    standingOf({ operation, approval }, submitters, now, DESK.verifier);

  it('is an approval where as many owners signed as must agree', () => {
    expect(standing(approvedBy(['a']))).toBe('approved');
    expect(standing(approvedBy(['a', 'b'], { quorum: 2 }))).toBe('approved');
    expect(standing(approvedBy(['a', 'b'], { quorum: 3 }))).toBe('unproved');
  });

  it.each(['pending', 'rejected', 'expired', 'void'] as const)(
    'is none where the row says %s, whoever has signed',
    (status) => {
      expect(standing({ ...approvedBy(['a']), status })).toBe('pending');
    },
  );

  it('is unproved where the row says approved and nobody signed', () => {
    expect(standing(recordOf({ status: 'approved' }))).toBe('unproved');
    expect(standing(recordOf({ status: 'approved', votes: [voteOf('p')] }))).toBe('unproved');
  });

  it('counts one signed owner once, under whatever names it is stored', () => {
    const [vote] = approvedBy(['a'], { quorum: 2 }).votes;
    const votes = [voteOf('p', { signed: vote?.signed }), voteOf('q', { signed: vote?.signed })];
    expect(standing(recordOf({ status: 'approved', quorum: 2, votes }))).toBe('unproved');
  });

  it('counts no word against', () => {
    const approval = recordOf({ status: 'approved' });
    const signed = signDecision(
      DESK.signer,
      { operation, approval },
      { decision: 'rejected', approver: { principalId: 'p', owner: 'a' }, decidedAt: T0 },
    );
    expect(standing({ ...approval, votes: [voteOf('p', { signed })] })).toBe('unproved');
  });

  it('counts no signature of a desk that is not known', () => {
    const { verifier } = createDesk();
    expect(standingOf({ operation, approval: approvedBy(['a']) }, [], NOW, verifier)).toBe(
      'unproved',
    );
  });

  it('counts no signature about terms that have changed since', () => {
    expect(standing({ ...approvedBy(['a'], { quorum: 2 }), quorum: 1 })).toBe('unproved');
    expect(standing({ ...approvedBy(['a']), ownRequests: true })).toBe('unproved');
    const approval = approvedBy(['a']);
    const plan = { ...operation.plan, provider_deadline_ms: 1 };
    const edited = { operation: { ...operation, plan }, approval };
    expect(standingOf(edited, [], NOW, DESK.verifier)).toBe('unproved');
  });

  it('counts no signature past the time that was signed, even where the row was given more', () => {
    const { expiresAt } = recordOf();
    expect(standing(approvedBy(['a']), [], expiresAt)).toBe('unproved');
    const longer = { ...approvedBy(['a']), expiresAt: '2036-01-01T00:00:00.000Z' };
    expect(standing(longer)).toBe('unproved');
  });

  it('counts no decision that was signed as given when its time was over', () => {
    const approval = recordOf({ status: 'approved' });
    const given = { decision: 'approved', approver: { principalId: 'p', owner: 'a' } } as const;
    const votes = [approval.expiresAt, T0].map((decidedAt) =>
      voteOf('p', {
        signed: signDecision(DESK.signer, { operation, approval }, { ...given, decidedAt }),
      }),
    );
    expect(standing({ ...approval, votes: votes.slice(0, 1) })).toBe('unproved');
    expect(standing({ ...approval, votes })).toBe('approved');
  });

  it("counts the submitter's own owner only where that was agreed to", () => {
    expect(standing(approvedBy(['a']), ['a'])).toBe('unproved');
    expect(standing(approvedBy(['a'], { ownRequests: true }), ['a'])).toBe('approved');
  });
});

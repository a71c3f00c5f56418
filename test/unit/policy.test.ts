// What a policy means, rule by rule; the file that is shipped is in shipped-policy.test.ts.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseMoney, type Money } from '../../src/domain/money.ts';
import { asksForMore, decisionOf } from '../../src/domain/policy-decision.ts';
import {
  decide,
  VERDICTS,
  type Conditions,
  type Policy,
  type PolicyFacts,
  type PolicyRule,
} from '../../src/domain/policy.ts';
import { factsWith, policyOf } from '../support/policy.ts';

const money = (amount: string, currency: string): Money => {
  const parsed = parseMoney(amount, currency);
  if (!parsed.ok) throw new Error(parsed.detail);
  return parsed.money;
};

const verdictOf = (policy: Policy, facts: Partial<PolicyFacts> = {}) =>
  decide(policy, factsWith(facts)).verdict;

const ALLOW_ALL = '- { name: all, when: {}, verdict: allow }';

describe('the conditions of a rule', () => {
  const matches = (condition: string, facts: Partial<PolicyFacts>): boolean =>
    verdictOf(
      policyOf(`${ALLOW_ALL}\n- { name: one, when: { ${condition} }, verdict: deny, reason: no }`),
      facts,
    ) === 'deny';

  it.each([
    ['kind', 'kind'],
    ['account', 'account'],
    ['agent', 'agent'],
    ['owner', 'owner'],
    ['environment', 'environment'],
    ['role', 'role'],
    ['target', 'target'],
    ['destination', 'destination'],
  ] as const)('%s holds of the names that stand there, of no other and of none', (member, fact) => {
    expect(matches(`${member}: x`, { [fact]: 'x' })).toBe(true);
    expect(matches(`${member}: [w, x]`, { [fact]: 'x' })).toBe(true);
    expect(matches(`${member}: [w, x]`, { [fact]: 'y' })).toBe(false);
    expect(matches(`${member}: x`, { [fact]: 'X' })).toBe(false);
    expect(matches(`${member}: x`, { [fact]: undefined })).toBe(false);
  });

  it.each([
    ['USD', true],
    ['EUR', false],
  ])('currency: USD of money in %s: %s', (currency, expected) => {
    expect(matches('currency: USD', { money: money('1', currency) })).toBe(expected);
  });

  it.each([
    ['9.99', 'USD', false],
    ['10.00', 'USD', true],
    ['9', 'JPY', false],
    ['10', 'JPY', true],
    // Nobody said how much of it is too much.
    ['0.01', 'EUR', true],
  ])('amount_at_least holds of %s %s: %s, and amount_below is its opposite', (amount, code, is) => {
    const facts = { money: money(amount, code) };
    const amounts = '{ USD: 10.00, JPY: 10 }';
    expect(matches(`amount_at_least: ${amounts}`, facts)).toBe(is);
    expect(matches(`amount_below: ${amounts}`, facts)).toBe(!is);
  });

  it('on amounts hold of nothing that has none', () => {
    expect(matches('amount_at_least: { USD: 1.00 }', {})).toBe(false);
    expect(matches('amount_below: { USD: 1.00 }', {})).toBe(false);
    expect(matches('currency: USD', {})).toBe(false);
  });

  it('on possible duplicates hold of those that are marked', () => {
    expect(matches('possible_duplicate: true', { possibleDuplicate: true })).toBe(true);
    expect(matches('possible_duplicate: true', { possibleDuplicate: false })).toBe(false);
  });

  it('must all hold', () => {
    const both = 'kind: payment, environment: production';
    expect(matches(both, { environment: 'production' })).toBe(true);
    expect(matches(both, { environment: 'staging' })).toBe(false);
    expect(matches(both, { kind: 'refund', environment: 'production' })).toBe(false);
  });

  it('are none in a rule that speaks of everything', () => {
    expect(verdictOf(policyOf(ALLOW_ALL), { kind: 'anything' })).toBe('allow');
  });
});

describe('a decision', () => {
  const rule = (name: string, then: string, more = '') =>
    `- { name: ${name}, when: {}, verdict: ${then}, reason: for ${name}${more} }`;

  it('names its rules, their reasons and the version of the policy', () => {
    const policy = policyOf([rule('a', 'allow'), rule('b', 'deny'), rule('c', 'deny')].join('\n'));
    expect(decide(policy, factsWith({}))).toEqual({
      verdict: 'deny',
      rules: ['b', 'c'],
      reasons: ['for b', 'for c'],
      policyVersion: policy.version,
    });
  });

  it.each([
    [['allow', 'require_approval'], 'require_approval'],
    [['require_approval', 'deny'], 'deny'],
    [['allow', 'deny', 'require_approval'], 'deny'],
    [['allow', 'allow'], 'allow'],
  ])('of %j is %s, in whatever order they stand', (verdicts, expected) => {
    const rules = verdicts.map((verdict, n) => rule(`r${n}`, verdict));
    expect(verdictOf(policyOf(rules.join('\n')))).toBe(expected);
    expect(verdictOf(policyOf(rules.toReversed().join('\n')))).toBe(expected);
  });

  it('waits for a person where no rule speaks of it', () => {
    const said = decide(
      policyOf('- { name: a, when: { kind: ticket }, verdict: allow }'),
      factsWith({}),
    );
    expect(said).toMatchObject({
      verdict: 'require_approval',
      rules: [],
      requirement: { quorum: 1, approvers: null, ownRequests: false, ttlMs: 24 * 3_600_000 },
    });
    expect(said.reasons.join()).toContain('no rule');
  });

  it('asks for what all rules together ask for', () => {
    const policy = policyOf(
      [
        rule('a', 'require_approval', ', approval: { quorum: 2, ttl: 2h, own_requests: true }'),
        rule(
          'b',
          'require_approval',
          ', approval: { ttl: 30m, approvers: { owners: [fin, ops, sec], principals: p_1 } }',
        ),
        rule('c', 'require_approval', ', approval: { approvers: { owners: [ops, fin] } }'),
      ].join('\n'),
    );
    expect(decide(policy, factsWith({}))).toMatchObject({
      requirement: {
        reasons: ['for a', 'for b', 'for c'],
        quorum: 2,
        ttlMs: 30 * 60_000,
        ownRequests: false,
        approvers: { owners: ['fin', 'ops'], principals: [] },
        policyVersion: policy.version,
      },
    });
  });

  it('denies where the rules together leave too few who may agree, rather than ask in vain', () => {
    const one = (name: string, owner: string) =>
      rule(name, 'require_approval', `, approval: { approvers: { owners: ${owner} } }`);
    const said = decide(policyOf([one('a', 'fin'), one('b', 'ops')].join('\n')), factsWith({}));
    expect(said).toMatchObject({ verdict: 'deny', rules: ['a', 'b'] });
    expect(said.reasons.at(-1)).toContain('too few people');
  });

  it('takes own requests only where every rule that asks does', () => {
    const own = rule('a', 'require_approval', ', approval: { own_requests: true }');
    const ownOf = (rules: string) => decide(policyOf(rules), factsWith({}));
    expect(ownOf(own)).toMatchObject({ requirement: { ownRequests: true } });
    expect(ownOf(`${own}\n${rule('b', 'require_approval')}`)).toMatchObject({
      requirement: { ownRequests: false },
    });
  });
});

describe('a ceiling', () => {
  const policy = policyOf(
    ALLOW_ALL,
    '- { name: day, kinds: payment, per: agent, at_most_a_day: { USD: 10.00 }, verdict: deny, reason: enough }',
  );
  const after = (spent: bigint, amount: string, currency = 'USD', kind = 'payment') =>
    decide(policy, factsWith({ kind, money: money(amount, currency) }), new Map([['day', spent]]))
      .verdict;

  it('is reached, and not passed', () => {
    expect(after(0n, '10.00')).toBe('allow');
    expect(after(999n, '0.01')).toBe('allow');
    expect(after(999n, '0.02')).toBe('deny');
    expect(after(1_000n, '0.01')).toBe('deny');
    expect(after(0n, '10.01')).toBe('deny');
  });

  it('is nothing in a currency that it does not name', () => {
    expect(after(0n, '0.01', 'EUR')).toBe('deny');
  });

  it('counts its own kinds', () => {
    expect(after(1_000n, '5.00', 'USD', 'refund')).toBe('allow');
  });

  it('is not asked where the sum is not known, as at the dispatch', () => {
    expect(verdictOf(policy, { money: money('99.00', 'USD') })).toBe('allow');
  });

  it('does not allow what no rule speaks of', () => {
    const alone = { ...policy, rules: [] };
    const facts = factsWith({ money: money('1.00', 'USD') });
    expect(decide(alone, facts, new Map([['day', 0n]])).verdict).toBe('require_approval');
  });
});

const names = fc.constantFrom('a', 'b', 'c');
const some = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
const someNames = some(fc.uniqueArray(names, { minLength: 1, maxLength: 2 }));
const amounts = some(
  fc.integer({ min: 1, max: 9 }).map((n) => new Map([['USD', money(String(n), 'USD')]])),
);
const approvers = fc.option(
  fc.record({ principals: fc.subarray(['p', 'q']), owners: fc.subarray(['x', 'y']) }),
);
const terms = fc.record({
  quorum: fc.integer({ min: 1, max: 3 }),
  ttlMs: fc.integer({ min: 1, max: 5 }),
  approvers,
  ownRequests: fc.boolean(),
});
const conditions: fc.Arbitrary<Conditions> = fc.record({
  kind: someNames,
  environment: someNames,
  amountAtLeast: amounts,
  amountBelow: amounts,
  possibleDuplicate: fc.constantFrom(undefined, true),
});
const rules: fc.Arbitrary<PolicyRule> = fc.record({
  name: names,
  when: conditions,
  verdict: fc.constantFrom(...VERDICTS),
  reason: names,
  approval: terms,
});
const policies: fc.Arbitrary<Policy> = fc.record({
  version: fc.constant('v'),
  rules: fc.array(rules, { maxLength: 6 }),
  ceilings: fc.constant([]),
  unspoken: fc.constant({ quorum: 1, ttlMs: 5, approvers: null, ownRequests: false }),
});
const operations = fc
  .record({
    kind: names,
    environment: some(names),
    money: some(fc.integer({ min: 1, max: 9 }).map((n) => money(String(n), 'USD'))),
    possibleDuplicate: fc.boolean(),
  })
  .map(factsWith);

describe('a further rule', () => {
  it('never makes a decision laxer, unless no rule spoke of the operation before', () => {
    fc.assert(
      fc.property(policies, rules, operations, (policy, added, facts) => {
        const before = decide(policy, facts);
        if (before.rules.length === 0) return;
        const after = decide({ ...policy, rules: [...policy.rules, added] }, facts);
        if (after.verdict === 'require_approval') {
          expect(asksForMore(before, after.requirement)).toBe(false);
        }
        expect(VERDICTS.indexOf(after.verdict)).toBeGreaterThanOrEqual(
          VERDICTS.indexOf(before.verdict),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it('changes nothing by where it stands', () => {
    fc.assert(
      fc.property(policies, operations, (policy, facts) => {
        const turned = { ...policy, rules: policy.rules.toReversed() };
        const [one, other] = [policy, turned].map((each) => decisionOf(decide(each, facts)));
        expect(other?.verdict).toBe(one?.verdict);
        expect(other?.rules.toSorted()).toEqual(one?.rules.toSorted());
        expect(other?.approval?.quorum).toBe(one?.approval?.quorum);
      }),
    );
  });

  it('never allows what none speaks of', () => {
    fc.assert(
      fc.property(policies, operations, (policy, facts) => {
        const { verdict, rules: decisive } = decide(policy, facts);
        if (decisive.length === 0) expect(verdict).toBe('require_approval');
      }),
    );
  });
});

describe('a verdict asks for more than was agreed to', () => {
  const asks = (more = '') =>
    decide(
      policyOf(`- { name: a, when: {}, verdict: require_approval, reason: r${more} }`),
      factsWith({}),
    );
  const allows = decide(policyOf(ALLOW_ALL), factsWith({}));
  const denies = decide(
    policyOf('- { name: a, when: {}, verdict: deny, reason: r }'),
    factsWith({}),
  );
  const named = (who: string) => asks(`, approval: { approvers: ${who} }`);

  it.each([
    ['denial after consent', denies, allows, true],
    ['denial after a question', denies, asks(), true],
    ['a question where nobody was asked', asks(), allows, true],
    ['a higher quorum', asks(', approval: { quorum: 2 }'), asks(), true],
    ['names after everybody', named('{ owners: x }'), asks(), true],
    ['fewer names', named('{ owners: x }'), named('{ owners: [x, y] }'), true],
    ['other names', named('{ principals: p }'), named('{ owners: p }'), true],
    ['own requests no more', asks(), asks(', approval: { own_requests: true }'), true],
    ['consent after a question', allows, asks(), false],
    ['consent where nobody was asked', allows, allows, false],
    ['the same again', asks(), asks(), false],
    ['a lower quorum', asks(), asks(', approval: { quorum: 2 }'), false],
    ['more names', named('{ owners: [x, y] }'), named('{ owners: y }'), false],
    ['everybody after names', asks(), named('{ owners: x }'), false],
    ['a shorter time', asks(', approval: { ttl: 1m }'), asks(', approval: { ttl: 2m }'), false],
  ])('%s', (_, now, then, expected) => {
    const agreed = then.verdict === 'require_approval' ? then.requirement : undefined;
    expect(asksForMore(now, agreed)).toBe(expected);
  });
});

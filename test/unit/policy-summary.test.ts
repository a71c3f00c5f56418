// What agents are told of the policy before they submit.
import { describe, expect, it } from 'vitest';
import { summarise } from '../../src/domain/policy-summary.ts';
import { policyOf, SHIPPED_POLICY } from '../support/policy.ts';

const READER = { account: 'acct_a', agent: 'acct_a.agent', owner: 'team-a' };
const said = (rules: string, ceilings = '') =>
  summarise(policyOf(rules, ceilings), 'payment', READER);

const rule = (name: string, when: string, then: string) =>
  `- { name: ${name}, when: { ${when} }, verdict: ${then}, reason: r }`;

describe('the summary of a kind', () => {
  it('names the thresholds of the policy that is shipped', () => {
    const payment = summarise(SHIPPED_POLICY, 'payment', READER);
    expect(payment).toMatch(
      /^Needs approval where the amount is at least 1000\.00 USD, .*150000 JPY/,
    );
    expect(payment).toMatch(/or in another currency\. Otherwise allowed\.$/);
    expect(summarise(SHIPPED_POLICY, 'ticket', READER)).toBe('Allowed.');
    expect(summarise(SHIPPED_POLICY, 'invitation', READER)).toBe(
      'Needs approval where the role is admin or owner. Otherwise allowed.',
    );
  });

  it('says the strictest first, and nothing that is never reached', () => {
    const rules = [
      rule('a', '', 'allow'),
      rule('b', 'environment: production, role: admin', 'require_approval'),
      rule('c', 'currency: USD', 'deny'),
    ];
    expect(said(rules.join('\n'))).toBe(
      'Denied where the currency is USD. Needs approval where the environment is production and the role is admin. Otherwise allowed.',
    );
    expect(said([...rules, rule('d', '', 'deny')].join('\n'))).toBe(
      'Denied where the currency is USD. Otherwise denied.',
    );
  });

  it('says what waits because no rule speaks of it', () => {
    expect(said(rule('a', 'kind: ticket', 'allow'))).toBe('Needs approval.');
    expect(said(rule('a', 'amount_below: { USD: 5.00 }', 'allow'))).toBe(
      'Allowed where the amount is below 5.00 USD. Otherwise needs approval.',
    );
  });

  it('says ceilings and possible duplicates', () => {
    const ceiling =
      '- { name: c, kinds: [payment, refund], per: agent, at_most_a_day: { USD: 9.00 }, verdict: deny, reason: r }';
    const rules = [
      rule('a', '', 'allow'),
      rule('b', 'possible_duplicate: true', 'require_approval'),
    ];
    const text = said(rules.join('\n'), ceiling);
    expect(text).toContain(
      'Denied where all payment, refund of one agent on one day exceed 9.00 USD',
    );
    expect(text).toContain('Needs approval where an equal request came shortly before.');
  });

  it('keeps to itself what is said of other accounts, agents and owners', () => {
    const rules = [
      rule('a', '', 'allow'),
      rule('b', 'account: acct_b, environment: secret-b', 'deny'),
      rule('c', 'agent: acct_a.agent_2, environment: secret-2', 'deny'),
      rule('d', 'owner: team-b, environment: secret-team', 'deny'),
      rule('e', 'account: acct_a, agent: acct_a.agent, environment: mine', 'deny'),
    ];
    expect(said(rules.join('\n'))).toBe('Denied where the environment is mine. Otherwise allowed.');
  });
});

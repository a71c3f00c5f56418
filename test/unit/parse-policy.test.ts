// A policy file is read strictly, and each fault is told with its line and column.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { sha256Hex } from '../../src/domain/sha256.ts';
import { parsePolicy, PolicyFileError } from '../../src/policy/parse-policy.ts';

const defaults = readConfig({});
const parse = (text: string) => parsePolicy(text, 'p.yaml', defaults);

/** The faults of a file, as they are told. */
function faultsOf(text: string): string[] {
  try {
    parse(text);
    return [];
  } catch (error) {
    if (!(error instanceof PolicyFileError)) throw error;
    return error.message.split('\n');
  }
}

const FILE = `policy_format: 1
rules:
  - name: large
    when:
      kind: payment
      amount_at_least: { USD: 1000.00, JPY: 150000 }
    verdict: require_approval
    reason: it is much
    approval:
      quorum: 2
      ttl: 4h
      approvers:
        owners: [finance, board]
      own_requests: false
ceilings:
  - name: refunds
    kinds: [refund]
    per: agent
    at_most_a_day: { USD: 500.00 }
    verdict: deny
    reason: enough for today
`;

describe('a policy file', () => {
  it('becomes a policy', () => {
    expect(parse(FILE)).toMatchObject({
      rules: [
        {
          name: 'large',
          verdict: 'require_approval',
          reason: 'it is much',
          when: {
            kind: ['payment'],
            amountAtLeast: new Map([
              ['USD', { currency: 'USD', minor: '100000', digits: 2 }],
              ['JPY', { currency: 'JPY', minor: '150000', digits: 0 }],
            ]),
          },
          approval: {
            quorum: 2,
            ttlMs: 4 * 3_600_000,
            approvers: { owners: ['finance', 'board'], principals: [] },
            ownRequests: false,
          },
        },
      ],
      ceilings: [{ name: 'refunds', kinds: ['refund'], per: 'agent', verdict: 'deny' }],
      unspoken: { quorum: 1, ttlMs: defaults.approvalTtlMs, approvers: null, ownRequests: false },
    });
  });

  it('has the SHA-256 of its bytes as version', () => {
    expect(parse(FILE).version).toBe(sha256Hex(FILE));
    expect(parse(`${FILE}# a note\n`).version).not.toBe(parse(FILE).version);
  });

  it('takes every scalar as the text that stands there', () => {
    const text = `policy_format: 1\nrules:\n  - { name: a, when: { environment: [no, 1.10, null, true] }, verdict: allow }\n`;
    expect(parse(text).rules[0]?.when.environment).toEqual(['no', '1.10', 'null', 'true']);
  });
});

const replaced = (line: string, by: string): string => {
  if (!FILE.includes(`${line}\n`)) throw new Error(`no line ${line}`);
  return FILE.replace(`${line}\n`, `${by}\n`);
};

describe('a fault', () => {
  it.each([
    ['policy_format: 1', 'policy_format: 2', 'p.yaml:1:16: write policy_format: 1'],
    [
      '    verdict: require_approval',
      '    verdict: ask',
      'p.yaml:7:14: write allow, require_approval or deny',
    ],
    [
      '  - name: large',
      '  - name: Large',
      'p.yaml:3:11: write a name of a-z, 0-9, _ and -, such as large-payments',
    ],
    ['      kind: payment', '      knid: payment', 'p.yaml:5:7: there is no member knid here'],
    [
      '      kind: payment',
      '      __proto__: payment',
      'p.yaml:5:7: there is no member __proto__ here',
    ],
    [
      '      kind: payment',
      '      kind: []',
      'p.yaml:5:13: write the name of a kind, or leave the member out',
    ],
    ['      kind: payment', '      kind:', 'p.yaml:5:12: write the name of a kind'],
    [
      '      kind: payment',
      '      kind: { a: b }',
      'p.yaml:5:13: write the name of a kind, or a list of them',
    ],
    [
      '      kind: payment',
      '      kind: [payment, [refund]]',
      'p.yaml:5:23: write the name of a kind',
    ],
    [
      '      kind: payment',
      '      currency: [EUR, usd]',
      'p.yaml:5:23: write an ISO 4217 code such as USD',
    ],
    [
      '      kind: payment',
      '      possible_duplicate: false',
      'p.yaml:5:27: write true, or leave it out',
    ],
    [
      '      amount_at_least: { USD: 1000.00, JPY: 150000 }',
      '      amount_at_least: { USD: 1000.00, JPY: 1500.50 }',
      'p.yaml:6:45: JPY has no decimals',
    ],
    [
      '      amount_at_least: { USD: 1000.00, JPY: 150000 }',
      '      amount_at_least: { USD: 1,000.00, JPY: 150000 }',
      // To YAML the comma ends the amount.
      'p.yaml:6:33: write a decimal such as 1000.00',
    ],
    [
      '      amount_at_least: { USD: 1000.00, JPY: 150000 }',
      '      amount_at_least: { usd: 1000.00 }',
      'p.yaml:6:31: write an ISO 4217 code such as USD',
    ],
    [
      '      amount_at_least: { USD: 1000.00, JPY: 150000 }',
      '      amount_at_least: 1000.00',
      'p.yaml:6:24: write an amount for each currency, such as { USD: 1000.00, JPY: 150000 }',
    ],
    [
      '      amount_at_least: { USD: 1000.00, JPY: 150000 }',
      '      amount_at_least: {}',
      'p.yaml:6:24: name at least one currency',
    ],
    ['      quorum: 2', '      quorum: two', 'p.yaml:10:15: write a number of people from 1 to 99'],
    [
      '      quorum: 2',
      '      quorum: 3',
      'p.yaml:13:9: 2 named, 3 must agree: name more, or lower the quorum',
    ],
    ['      ttl: 4h', '      ttl: 4 hours', 'p.yaml:11:12: write a time such as 30m, 24h or 7d'],
    ['      ttl: 4h', '      ttl: 400d', 'p.yaml:11:12: write at most 366d'],
    ['      own_requests: false', '      own_requests: no', 'p.yaml:14:21: write true or false'],
    [
      '    reason: it is much',
      '    # none',
      'p.yaml:7:14: add a `reason`: agents and approvers read it',
    ],
    [
      '    verdict: require_approval',
      '    verdict: deny',
      'p.yaml:10:7: only require_approval asks for approval: remove it, or change `verdict`',
    ],
    ['    per: agent', '    per: team', 'p.yaml:18:10: write agent, destination or account'],
    [
      '    per: agent',
      '    # none',
      'p.yaml:16:5: `per` is missing: write agent, destination or account',
    ],
    ['    verdict: deny', '    verdict: allow', 'p.yaml:20:14: write require_approval or deny'],
    [
      '  - name: refunds',
      '  - name: large',
      'p.yaml:16:11: the name large is taken by an earlier one',
    ],
  ])('%j as %j is told: %s', (line, by, told) => {
    expect(faultsOf(replaced(line, by))[0]).toBe(told);
  });

  it('of each part is told, in the order of the lines', () => {
    const text = replaced('    per: agent', '    per: team').replace('ttl: 4h', 'ttl: soon');
    expect(faultsOf(text).map((one) => one.split(' ')[0])).toEqual([
      'p.yaml:11:12:',
      'p.yaml:18:10:',
    ]);
  });

  it.each([
    [
      'a member that is there twice',
      'policy_format: 1\npolicy_format: 1\nrules: []\n',
      'p.yaml:2:1: ',
    ],
    ['an anchor', 'policy_format: &a 1\nrules: []\n', 'p.yaml:1:19: remove the anchor'],
    [
      'an alias',
      'policy_format: &a 1\nrules: *a\n',
      'p.yaml:2:8: aliases are not read: write it out',
    ],
    ['a tag', 'policy_format: !!int 1\nrules: []\n', 'p.yaml:1:'],
    ['a second document', 'policy_format: 1\nrules: []\n---\nrules: []\n', 'p.yaml:3:1: '],
    ['a list as a member', '? [a]\n: 1\npolicy_format: 1\nrules: []\n', 'p.yaml:1:3: '],
    ['a flow that is not closed', 'policy_format: 1\nrules: [\n', 'p.yaml:'],
    ['a tab as indentation', 'policy_format: 1\nrules:\n\t- a\n', 'p.yaml:3:'],
    ['nothing', '', 'p.yaml:1:1: write a mapping with `policy_format` and `rules`'],
    ['a list', '- a\n', 'p.yaml:1:1: write a mapping with `policy_format` and `rules`'],
    ['no rules', 'policy_format: 1\n', 'p.yaml:1:1: `rules` is missing: write a list of rules'],
    [
      'a rule that is text',
      'policy_format: 1\nrules: [all]\n',
      'p.yaml:2:9: write a rule with `name`, `when` and `verdict`',
    ],
    [
      'a rule without conditions',
      'policy_format: 1\nrules: [{ name: a, verdict: allow }]\n',
      'p.yaml:2:9: `when` is missing: ',
    ],
  ])('%s is told', (_, text, told) => {
    expect(
      faultsOf(text).some((one) => one.startsWith(told)),
      faultsOf(text).join(),
    ).toBe(true);
  });

  it('is what any text has that is no policy, and nothing else is thrown', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...FILE.split('\n'), '- a', '  b: [', '*x', '&y 1', '? z'), {
          maxLength: 12,
        }),
        (lines) => {
          for (const fault of faultsOf(lines.join('\n'))) {
            expect(fault).toMatch(/^p\.yaml:\d+:\d+: \S/);
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});

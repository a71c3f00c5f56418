// A policy in sentences, as far as it speaks of one kind to one caller: agents read them before they submit.
import { formatAmount } from './money.ts';
import {
  VERDICTS,
  type Amounts,
  type Conditions,
  type Policy,
  type PolicyCeiling,
  type Verdict,
} from './policy.ts';

/** Whom it is told: rules that name other accounts, agents or owners are none of theirs. */
export interface SummaryReader {
  readonly account: string;
  readonly agent: string;
  readonly owner: string;
}

const WORD: Readonly<Record<Verdict, string>> = {
  allow: 'Allowed',
  require_approval: 'Needs approval',
  deny: 'Denied',
};

/** The rules and ceilings that speak of the kind, the strictest first. */
export function summarise(policy: Policy, kind: string, reader: SummaryReader): string {
  const clauses = [
    ...policy.rules
      .filter(({ when }) => isFor(when.kind, kind) && concerns(when, reader))
      .map(({ verdict, when }) => ({ verdict, conditions: conditionsOf(when) })),
    ...policy.ceilings
      .filter(({ kinds }) => kinds.includes(kind))
      .map((ceiling) => ({ verdict: ceiling.verdict, conditions: [sumOf(ceiling)] })),
    { verdict: 'require_approval' as const, conditions: [], isUnspoken: true },
  ];
  const sorted = clauses.toSorted((one, other) => rank(other) - rank(one));
  // What stands behind a clause without conditions is never reached.
  const end = sorted.findIndex(({ conditions }) => conditions.length === 0);
  return [...new Set(sorted.slice(0, end + 1).map(sentence))].join(' ');
}

interface Clause {
  readonly verdict: Verdict;
  readonly conditions: readonly string[];
  /** For what no rule speaks of; behind all others. */
  readonly isUnspoken?: boolean;
}

/** Behind those of its verdict that have conditions stands the one that has none. */
function rank({ verdict, conditions, isUnspoken = false }: Clause): number {
  return isUnspoken ? -1 : VERDICTS.indexOf(verdict) + (conditions.length > 0 ? 0.5 : 0);
}

function sentence({ verdict, conditions }: Clause, n: number): string {
  const word = WORD[verdict];
  if (conditions.length > 0) return `${word} where ${conditions.join(' and ')}.`;
  return n === 0 ? `${word}.` : `Otherwise ${word.toLowerCase()}.`;
}

function isFor(names: readonly string[] | undefined, name: string): boolean {
  return names === undefined || names.includes(name);
}

function concerns(when: Conditions, { account, agent, owner }: SummaryReader): boolean {
  return isFor(when.account, account) && isFor(when.agent, agent) && isFor(when.owner, owner);
}

function conditionsOf(when: Conditions): string[] {
  const named = ['currency', 'environment', 'role', 'target', 'destination'] as const;
  return [
    ...named.flatMap((name) => {
      const values = when[name];
      return values ? [`the ${name} is ${values.join(' or ')}`] : [];
    }),
    ...(when.amountBelow ? [`the amount is below ${listed(when.amountBelow)}`] : []),
    ...(when.amountAtLeast
      ? [`the amount is at least ${listed(when.amountAtLeast)}, or in another currency`]
      : []),
    ...(when.possibleDuplicate ? ['an equal request came shortly before'] : []),
  ];
}

function sumOf({ per, atMostADay, kinds }: PolicyCeiling): string {
  return `all ${kinds.join(', ')} of one ${per} on one day exceed ${listed(atMostADay)}, or are in another currency`;
}

function listed(amounts: Amounts): string {
  const all = [...amounts.values()].map(
    ({ minor, digits, currency }) => `${formatAmount(minor, digits)} ${currency}`,
  );
  return all.join(', ');
}

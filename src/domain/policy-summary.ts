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
  const rules = policy.rules.filter(({ when }) => isFor(when.kind, kind) && concerns(when, reader));
  const said = VERDICTS.toReversed().flatMap((verdict) =>
    rules
      .filter((rule) => rule.verdict === verdict)
      .map(({ when }) => sentence(verdict, conditionsOf(when))),
  );
  const ceilings = policy.ceilings
    .filter(({ kinds }) => kinds.includes(kind))
    .map((ceiling) => sentence(ceiling.verdict, [sumOf(ceiling)]));
  const isAlwaysSpokenOf = rules.some(({ when }) => conditionsOf(when).length === 0);
  const rest = isAlwaysSpokenOf ? [] : ['Whatever else there is needs approval.'];
  return [...new Set([...said, ...ceilings, ...rest])].join(' ');
}

function isFor(names: readonly string[] | undefined, name: string): boolean {
  return names === undefined || names.includes(name);
}

function concerns(when: Conditions, { account, agent, owner }: SummaryReader): boolean {
  return isFor(when.account, account) && isFor(when.agent, agent) && isFor(when.owner, owner);
}

function sentence(verdict: Verdict, conditions: readonly string[]): string {
  const where = conditions.length > 0 ? ` where ${conditions.join(' and ')}` : '';
  return `${WORD[verdict]}${where}.`;
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

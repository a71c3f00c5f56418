// What may run at once, what a person decides first, and what never runs. A policy is data (docs/policy.md); this is its whole meaning.
import type { ApprovalRequirement } from './approval-requirement.ts';
import { compareMoney, minorOf, type Money } from './money.ts';

/** From lax to strict. */
export const VERDICTS = ['allow', 'require_approval', 'deny'] as const;

export type Verdict = (typeof VERDICTS)[number];

/** What a kind tells the policy about one command: ids and names out of it, never somebody's words. */
export interface KindFacts {
  readonly money?: Money | undefined;
  /** Who gets or gives: a customer, a payee. */
  readonly destination?: string | undefined;
  readonly environment?: string | undefined;
  readonly role?: string | undefined;
  /** What is acted upon: a ticket, a workspace, a service. */
  readonly target?: string | undefined;
}

export interface PolicyFacts extends KindFacts {
  readonly kind: string;
  readonly account: string;
  /** Principal id of the submitter. */
  readonly agent: string;
  readonly owner: string;
  /** An equal request came under another key within the twins' window, and this one doesn't say that it repeats on purpose. */
  readonly possibleDuplicate: boolean;
}

/** One amount for each currency that is named. */
export type Amounts = ReadonlyMap<string, Money>;

/** All of those that are given must hold; a list holds where it has the fact. A fact that there is not is in no list. */
export interface Conditions {
  readonly kind?: readonly string[] | undefined;
  readonly account?: readonly string[] | undefined;
  readonly agent?: readonly string[] | undefined;
  readonly owner?: readonly string[] | undefined;
  readonly currency?: readonly string[] | undefined;
  readonly environment?: readonly string[] | undefined;
  readonly role?: readonly string[] | undefined;
  readonly target?: readonly string[] | undefined;
  readonly destination?: readonly string[] | undefined;
  /** These amounts or more, and every amount of a currency that isn't named. */
  readonly amountAtLeast?: Amounts | undefined;
  /** Less than these amounts; never of a currency that isn't named. The exact opposite of `amountAtLeast`. */
  readonly amountBelow?: Amounts | undefined;
  readonly possibleDuplicate?: true | undefined;
}

/** Who must agree, and for how long they may be asked. Null: every approver of the account. */
export type ApprovalTerms = Pick<
  ApprovalRequirement,
  'quorum' | 'approvers' | 'ttlMs' | 'ownRequests'
>;

interface Consequence {
  /** Unique among rules and ceilings; the audit names it. */
  readonly name: string;
  readonly verdict: Verdict;
  /** A sentence for people and agents. */
  readonly reason: string;
  /** Of use where the verdict is require_approval. */
  readonly approval: ApprovalTerms;
}

export interface PolicyRule extends Consequence {
  readonly when: Conditions;
}

/** A sum for each calendar day (UTC) and currency; a currency that isn't named has the sum 0. */
export interface PolicyCeiling extends Consequence {
  readonly kinds: readonly string[];
  readonly per: 'agent' | 'destination' | 'account';
  readonly atMostADay: Amounts;
}

export interface Policy {
  /** SHA-256 of the file, hex. */
  readonly version: string;
  readonly rules: readonly PolicyRule[];
  readonly ceilings: readonly PolicyCeiling[];
  /** Of what no rule speaks of. */
  readonly unspoken: ApprovalTerms;
}

interface Decided {
  /** Names of the rules and ceilings that decided; none where no rule speaks of it. */
  readonly rules: readonly string[];
  readonly reasons: readonly string[];
  readonly policyVersion: string;
}

export type PolicyVerdict =
  | (Decided & { readonly verdict: 'allow' })
  | (Decided & { readonly verdict: 'deny' })
  | (Decided & {
      readonly verdict: 'require_approval';
      readonly requirement: ApprovalRequirement;
    });

/** Minor units that count towards a ceiling today, by the ceiling's name; this operation is not among them. */
export type Spent = ReadonlyMap<string, bigint>;

/** For a decision about what holds its share of every ceiling already. */
const NOTHING_ASKED: Spent = new Map();

const UNSPOKEN = 'no rule of the policy speaks of it';

/**
 * The strictest of what matches. Where several ask for approval all of them must be content: the highest quorum, the shortest time, only
 * approvers that each one takes. What no rule speaks of waits for a person. Only ceilings that are in `spent` are asked.
 */
export function decide(policy: Policy, facts: PolicyFacts, spent = NOTHING_ASKED): PolicyVerdict {
  const spoken = policy.rules.filter(({ when }) => holds(when, facts));
  const matched: Consequence[] = [
    ...(spoken.length > 0 ? spoken : [unspoken(policy)]),
    ...policy.ceilings.filter((ceiling) => isExceeded(ceiling, facts, spent)),
  ];
  const verdict = VERDICTS.findLast((one) => matched.some((each) => each.verdict === one));
  if (verdict === undefined) throw new Error('something always matches');
  const winners = matched.filter((one) => one.verdict === verdict);
  const rules = winners.map(({ name }) => name).filter((name) => name !== '');
  const reasons = [...new Set(winners.map(({ reason }) => reason))];
  const decided = { rules, reasons, policyVersion: policy.version };
  return verdict === 'require_approval' ? asked(decided, winners) : { ...decided, verdict };
}

function unspoken({ unspoken: approval }: Policy): Consequence {
  return { name: '', verdict: 'require_approval', reason: UNSPOKEN, approval };
}

/** True where a rule's conditions hold of an operation. */
export function holds(when: Conditions, facts: PolicyFacts): boolean {
  const { money } = facts;
  return (
    isAmong(when.kind, facts.kind) &&
    isAmong(when.account, facts.account) &&
    isAmong(when.agent, facts.agent) &&
    isAmong(when.owner, facts.owner) &&
    isAmong(when.currency, money?.currency) &&
    isAmong(when.environment, facts.environment) &&
    isAmong(when.role, facts.role) &&
    isAmong(when.target, facts.target) &&
    isAmong(when.destination, facts.destination) &&
    (when.amountAtLeast === undefined || (!!money && reaches(money, when.amountAtLeast))) &&
    (when.amountBelow === undefined || (!!money && !reaches(money, when.amountBelow))) &&
    (when.possibleDuplicate === undefined || facts.possibleDuplicate)
  );
}

function isAmong(allowed: readonly string[] | undefined, fact: string | undefined): boolean {
  return allowed === undefined || (fact !== undefined && allowed.includes(fact));
}

function reaches(money: Money, amounts: Amounts): boolean {
  const bound = amounts.get(money.currency);
  return bound === undefined || compareMoney(money, bound) >= 0;
}

function isExceeded(ceiling: PolicyCeiling, facts: PolicyFacts, spent: Spent): boolean {
  const before = spent.get(ceiling.name);
  if (before === undefined || !facts.money || !ceiling.kinds.includes(facts.kind)) return false;
  const bound = ceiling.atMostADay.get(facts.money.currency);
  return before + minorOf(facts.money) > (bound === undefined ? 0n : minorOf(bound));
}

/** Where too few people are left who satisfy every rule, nobody is asked in vain. */
function asked(decided: Decided, winners: readonly Consequence[]): PolicyVerdict {
  const terms = winners.map(({ approval }) => approval).reduce(bothTerms);
  const { approvers, quorum } = terms;
  if (approvers && approvers.principals.length + approvers.owners.length < quorum) {
    const nobody = 'the rules that ask for approval leave too few people who may give it';
    return { ...decided, reasons: [...decided.reasons, nobody], verdict: 'deny' };
  }
  const { reasons, policyVersion } = decided;
  return {
    ...decided,
    verdict: 'require_approval',
    requirement: { ...terms, reasons, policyVersion },
  };
}

function bothTerms(one: ApprovalTerms, other: ApprovalTerms): ApprovalTerms {
  return {
    quorum: Math.max(one.quorum, other.quorum),
    ttlMs: Math.min(one.ttlMs, other.ttlMs),
    ownRequests: one.ownRequests && other.ownRequests,
    approvers: bothApprovers(one.approvers, other.approvers),
  };
}

/** By name only: whether a person is of an owner that another rule names is not known here, so such a person is left out. */
function bothApprovers(
  one: ApprovalTerms['approvers'],
  other: ApprovalTerms['approvers'],
): ApprovalTerms['approvers'] {
  if (!one || !other) return one ?? other;
  return {
    principals: one.principals.filter((id) => other.principals.includes(id)),
    owners: one.owners.filter((owner) => other.owners.includes(owner)),
  };
}

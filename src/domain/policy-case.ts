// A policy that is asked about one operation while it is claimed: some of what it wants to know stands in the register and is read under
// locks, but only where a rule or ceiling asks for it.
import { sha256Hex } from './sha256.ts';
import {
  decide,
  holds,
  type Policy,
  type PolicyCeiling,
  type PolicyFacts,
  type PolicyVerdict,
  type Spent,
} from './policy.ts';

/** Whose sum is asked for: of these kinds, in this currency, today, in the account of the operation. */
export interface CeilingQuestion {
  readonly ceiling: string;
  readonly kinds: readonly string[];
  readonly currency: string;
  readonly per: PolicyCeiling['per'];
  /** The agent, the account, or the destination's digest ('' where there is none). */
  readonly of: string;
}

/** What an operation takes of the ceilings that are asked, now or by a later policy of the same day. */
interface Reservation {
  readonly currency: string;
  readonly amountMinor: string;
  readonly destination: string;
}

export interface PolicyFindings {
  readonly hasTwin: boolean;
  readonly spent: Spent;
}

export interface PolicyCase {
  /** Whether an equal earlier request matters. */
  readonly asksForTwin: boolean;
  readonly ceilings: readonly CeilingQuestion[];
  /** Null where no ceiling counts it. */
  readonly reservation: Reservation | null;
  readonly decide: (findings: PolicyFindings) => PolicyVerdict;
}

export const NOTHING_FOUND: PolicyFindings = { hasTwin: false, spent: new Map() };

/** The case of an operation; `isRepeat`: it says itself that it repeats an equal one. */
export function policyCase(
  policy: Policy,
  facts: Omit<PolicyFacts, 'possibleDuplicate'>,
  isRepeat: boolean,
): PolicyCase {
  const ifTwin = { ...facts, possibleDuplicate: true };
  const counting = policy.ceilings.filter(({ kinds }) => facts.money && kinds.includes(facts.kind));
  return {
    asksForTwin:
      !isRepeat &&
      policy.rules.some(({ when }) => when.possibleDuplicate === true && holds(when, ifTwin)),
    ceilings: counting.map((ceiling) => questionOf(ceiling, ifTwin)),
    reservation: counting.length > 0 ? reservationOf(ifTwin) : null,
    decide: ({ hasTwin, spent }) =>
      decide(policy, { ...facts, possibleDuplicate: hasTwin && !isRepeat }, spent),
  };
}

function questionOf({ name, kinds, per }: PolicyCeiling, facts: PolicyFacts): CeilingQuestion {
  const { agent, account, money } = facts;
  const of = { agent, account, destination: digestOf(facts) }[per];
  return { ceiling: name, kinds, currency: money?.currency ?? '', per, of };
}

function reservationOf(facts: PolicyFacts): Reservation | null {
  const { money } = facts;
  if (!money) return null;
  return { currency: money.currency, amountMinor: money.minor, destination: digestOf(facts) };
}

/** A customer's id is personal and goes with retention; a digest may stay and is as good for telling two apart. */
function digestOf({ destination }: PolicyFacts): string {
  return destination === undefined ? '' : sha256Hex(destination);
}

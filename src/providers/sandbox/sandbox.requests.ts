// How each kind is said to the sandbox: one mapping a kind. It counts in ISO 4217 minor units, as text, so no scaling table is needed.
import { parseMoney } from '../../domain/money.ts';
import type { JsonObject } from '../../domain/strict-json.ts';
import type { FrozenTarget } from '../../domain/execution-plan.ts';

type Members = Readonly<Record<string, string | undefined>>;
type Mapping = (command: Members, target: FrozenTarget | null) => Members;

function minorOf({ amount = '', currency = '' }: Members): string {
  const parsed = parseMoney(amount, currency);
  if (!parsed.ok) throw new Error(`a stored amount: ${parsed.detail}`);
  return parsed.money.minor;
}

function needed(target: FrozenTarget | null): FrozenTarget {
  if (!target) throw new Error('the plan names no target');
  return target;
}

const MAPPINGS: Readonly<Record<string, Mapping>> = {
  payment: (command) => ({
    amount: minorOf(command),
    currency: command['currency'],
    customer: command['customer_id'],
    invoice: command['invoice_id'],
    capture: command['capture'],
    memo: command['memo'],
  }),
  payment_capture: (_command, target) => ({
    payment: needed(target).provider_reference,
    amount: needed(target).amount_minor,
    currency: needed(target).currency,
  }),
  refund: (command, target) => ({
    payment: needed(target).provider_reference,
    amount: minorOf(command),
    currency: command['currency'],
    reason: command['reason'],
  }),
  ticket: (command) => ({
    project: command['project'],
    title: command['title'],
    description: command['description'],
    priority: command['priority'],
    assignee: command['assignee'],
    source_event: command['source_event_id'],
  }),
};

/** The request of a command; throws for a kind without a mapping. Members without a value are not sent. */
export function sandboxRequest(
  kind: string,
  command: JsonObject,
  target: FrozenTarget | null,
): Members {
  const mapping = MAPPINGS[kind];
  if (!mapping) throw new Error(`the sandbox adapter has no mapping for ${kind}`);
  const request = mapping(command as Members, target);
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined));
}

/** Members that must agree before a finding is taken for ours. Free text is left out: providers shorten it. */
export const COMPARED: Readonly<Record<string, readonly string[]>> = {
  payment: ['amount', 'currency', 'customer', 'invoice', 'capture'],
  payment_capture: ['payment', 'amount', 'currency'],
  refund: ['payment', 'amount', 'currency'],
  ticket: ['project', 'title'],
};

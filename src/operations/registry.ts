// All kinds, by hand: adding one is one line here.
import type { OperationDefinition } from './define-operation.ts';
import { paymentCapture } from './payment-capture/payment-capture.operation.ts';
import { payment } from './payment/payment.operation.ts';
import { refund } from './refund/refund.operation.ts';
import { ticket } from './ticket/ticket.operation.ts';

const DEFINITIONS: readonly OperationDefinition[] = [payment, paymentCapture, refund, ticket];

/** The names of all kinds. */
export const KINDS: readonly string[] = [...new Set(DEFINITIONS.map(({ kind }) => kind))];

/** The newest version of a kind; undefined where there is no such kind. */
export function currentDefinition(kind: string): OperationDefinition | undefined {
  return DEFINITIONS.filter((one) => one.kind === kind).toSorted(
    (a, b) => b.version - a.version,
  )[0];
}

/** The version that a stored operation was claimed under; undefined where it is no longer registered. */
export function definitionOf(kind: string, version: number): OperationDefinition | undefined {
  return DEFINITIONS.find((one) => one.kind === kind && one.version === version);
}

/** The personal members of a stored operation's kind; throws where its version is no longer registered. */
export function personalMembersOf(kind: string, version: number): readonly string[] {
  const definition = definitionOf(kind, version);
  if (!definition) throw new Error(`${kind} ${version} is not registered`);
  return definition.personal;
}

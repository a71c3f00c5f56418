// All kinds, by hand: adding one is one line here.
import type { OperationDefinition } from './define-operation.ts';
import { payment } from './payment/payment.operation.ts';

const DEFINITIONS: readonly OperationDefinition[] = [payment];

/** The names of all kinds. */
export const KINDS: readonly string[] = [...new Set(DEFINITIONS.map(({ kind }) => kind))];

/** The newest version of a kind; undefined where there is no such kind. */
export function currentDefinition(kind: string): OperationDefinition | undefined {
  return DEFINITIONS.filter((one) => one.kind === kind).sort((a, b) => b.version - a.version)[0];
}

/** The version that a stored operation was claimed under; undefined where it is no longer registered. */
export function definitionOf(kind: string, version: number): OperationDefinition | undefined {
  return DEFINITIONS.find((one) => one.kind === kind && one.version === version);
}

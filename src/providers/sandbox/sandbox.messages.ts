// Answers of the sandbox provider, read with suspicion: from a gateway or a cut connection anything may come.
import type { OperationResult } from '../../domain/outcome.ts';
import { COMPARED } from './sandbox.requests.ts';

/** The members of an answer that count; all may be missing. */
export interface SandboxAnswer {
  readonly id?: string;
  /** The kind. */
  readonly object?: string;
  readonly token?: string;
  readonly state?: 'done' | 'pending' | 'failed';
  readonly capture?: string;
  readonly error?: { readonly code?: string };
}

/** An object as a lookup or an event shows it. */
export type SandboxObject = SandboxAnswer & {
  readonly id: string;
  readonly state: 'done' | 'pending' | 'failed';
};

/** Undefined where the text is no JSON object. */
export function readAnswer(text: string): SandboxAnswer | undefined {
  return readJson(text);
}

/** Undefined where the text is not a list of objects: then it says nothing. */
export function readList(text: string): SandboxObject[] | undefined {
  const data = readJson(text)?.['data'];
  return Array.isArray(data) && data.every(isObject) ? data : undefined;
}

/** True where what the provider shows is what was sent; also where that is no longer kept. */
export function sameRequest(kind: string, found: object, requestBody: string | null): boolean {
  if (requestBody === null) return true;
  const sent = readJson(requestBody) ?? {};
  const shown = found as Record<string, unknown>;
  return (COMPARED[kind] ?? []).every((member) => String(shown[member]) === String(sent[member]));
}

/** What an agent needs to go on: the provider's id under the kind's name, and for payments whether the money has moved. */
export function resultOf(kind: string, id: string, { capture }: SandboxAnswer): OperationResult {
  if (kind !== 'payment') return { [`${kind}_id`]: id };
  return { payment_id: id, payment_state: capture === 'manual' ? 'authorized' : 'captured' };
}

/** Undefined where the text is not JSON of an object. */
export function readJson(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** True for what can be read as an object of the provider. */
export function isObject(value: unknown): value is SandboxObject {
  if (typeof value !== 'object' || value === null) return false;
  const { id, state } = value as Record<string, unknown>;
  return typeof id === 'string' && ['done', 'pending', 'failed'].includes(String(state));
}

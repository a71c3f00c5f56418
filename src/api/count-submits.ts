// Counts how submits are answered, and which of them would have acted a second time. Every door counts through here.
import { HoldfastError } from '../domain/operation-error.ts';
import { currentDefinition } from '../operations/registry.ts';
import type { ApiDependencies } from './dependencies.ts';
import type { Submitted } from './submission.types.ts';

/** Answers that stand for an effect which did not happen twice. */
const PREVENTED = new Set([
  'replayed',
  'in_progress',
  'reused',
  'fingerprint_mismatch',
  'business_duplicate',
]);

/** Counts what a submit comes to; answers or throws what it does. */
export async function countSubmit(
  { metrics }: Pick<ApiDependencies, 'metrics'>,
  kind: string,
  submit: () => Promise<Submitted>,
): Promise<Submitted> {
  // A kind that nobody knows is whatever its caller typed.
  const known = currentDefinition(kind) ? kind : '-';
  const count = (answer: string): void => {
    metrics.submits.inc({ kind: known, answer });
    if (PREVENTED.has(answer)) metrics.duplicatesPrevented.inc({ kind: known, reason: answer });
  };
  try {
    const submitted = await submit();
    count(submitted.disposition);
    return submitted;
  } catch (error) {
    count(error instanceof HoldfastError ? error.code : 'error');
    throw error;
  }
}

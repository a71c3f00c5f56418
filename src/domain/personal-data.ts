// What retention and erasure take from an operation, and what they leave (contract §4, "Stored bytes"). What stays is what keeps the
// register right: keys, fingerprints, business keys, token, reference, amounts, digests and links.
import { OPERATION_ERRORS } from './error-catalogue.ts';
import type { Attempt, Operation, OperationFile } from './operation.ts';
import type { OperationProblem } from './operation-problem.ts';
import { renderOperation } from './representation.ts';

/** `expired`: by age. `erased`: by an operator, at once. */
export type Removal = 'expired' | 'erased';

/** Members of a kind's command and result that name somebody or are somebody's words. */
export type PersonalMembersOf = (kind: string, version: number) => readonly string[];

/** True where an operator's erasure left nothing to take: what was written down since then is new. */
export function isErased({ erasedAt, wordsAt }: Operation): boolean {
  return erasedAt !== null && wordsAt !== null && Date.parse(erasedAt) >= Date.parse(wordsAt);
}

/**
 * A settled operation without what is personal, at database time `now`, with new stored bytes. `personal` are the members of its kind
 * that go. Its state and the time of its last change stay: nothing happened to the action.
 */
export function reduceFile(
  file: OperationFile,
  personal: readonly string[],
  removal: Removal,
  now: string,
): OperationFile {
  const { operation: before } = file;
  const reduced = {
    ...file,
    attempts: file.attempts.map(withoutBytes),
    operation: {
      ...before,
      ...(removal === 'expired' ? { expiredAt: now } : { erasedAt: now }),
      version: before.version + 1,
      command: without(before.command, personal),
      result: before.result && without(before.result, personal),
      error: withoutText(before.error),
      lastError: withoutText(before.lastError),
    },
  };
  return {
    ...reduced,
    operation: { ...reduced.operation, responseBody: renderOperation(reduced) },
  };
}

function withoutBytes(attempt: Attempt): Attempt {
  return { ...attempt, requestBody: null, error: withoutText(attempt.error) };
}

function without<T extends object>(value: T, names: readonly string[]): T {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name))) as T;
}

/** A code is ours; the sentence beside it may have come from a provider. */
function withoutText(problem: OperationProblem | null): OperationProblem | null {
  if (!problem) return null;
  const known: Readonly<Record<string, string>> = OPERATION_ERRORS;
  return { code: problem.code, message: known[problem.code] ?? 'Its text was removed.' };
}

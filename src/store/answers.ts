// What an answer to an attempt writes: the attempt with its outcome, the evidence, the events, and what the row takes from it.
import type { OperationProblem } from '../domain/operation-problem.ts';
import type { WriteOutcome } from '../domain/outcome.ts';
import { auditOf, type AuditEvent } from './audit.store.ts';
import type { EvidenceRecord } from './evidence.store.ts';
import type { LockedFile } from './operations.store.ts';
import type { Patch } from './transitions.store.ts';

/** The file with the attempt ended. */
export function withOutcome(file: LockedFile, number: number, outcome: WriteOutcome): LockedFile {
  const error = problemOf(outcome);
  const attempts = file.attempts.map((one) =>
    one.number === number ? { ...one, outcome: outcome.status, error, endedAt: file.now } : one,
  );
  return { ...file, attempts };
}

/** The evidence that an answer is. */
export function answerOf(
  { operation, now }: LockedFile,
  number: number,
  outcome: WriteOutcome,
): EvidenceRecord {
  const { status, evidence, ...said } = outcome;
  return {
    operationId: operation.operationId,
    type: 'write_answer',
    attempt: number,
    verdict: status,
    detail: { ...said, evidence },
    at: now,
  };
}

/** Its events, before the transition that it may lead to. */
export function answerEvents(
  { operation, now }: LockedFile,
  number: number,
  outcome: WriteOutcome,
): AuditEvent[] {
  const detail = { attempt: number, outcome: outcome.status };
  // Named here as well: "pending" writes it into the row without a transition.
  const providerReference = 'reference' in outcome ? (outcome.reference ?? null) : null;
  const answer = { ...auditOf(operation, 'provider_answer', now), providerReference, detail };
  if (outcome.status === 'not_sent') return [answer];
  return [{ ...auditOf(operation, 'sent', now), detail }, answer];
}

/** What the row takes of an answer, whether it moves the operation or not. */
export function patchBy(outcome: WriteOutcome): Patch {
  const problem = problemOf(outcome);
  const reference = outcome.status === 'pending' ? outcome.reference : undefined;
  return {
    ...(problem ? { lastError: problem } : {}),
    ...(reference ? { providerReference: reference } : {}),
  };
}

/** Why it is no success; null where it is one, or may become one. */
export function problemOf(outcome: WriteOutcome): OperationProblem | null {
  switch (outcome.status) {
    case 'failed':
      return outcome.error;
    case 'unknown':
      return { code: outcome.reason, message: 'The outcome of this attempt is not known.' };
    case 'not_sent':
      return { code: outcome.reason, message: 'The provider refused before acting.' };
    case 'succeeded':
    case 'pending':
      return null;
  }
}

// The operation as it is stored: one requested action, one row, one workflow. Times are RFC 3339 in UTC with milliseconds.
import type { OperationErrorCode } from './error-catalogue.ts';
import type { ExecutionPlan } from './execution-plan.ts';
import type { OperationProblem } from './operation-problem.ts';
import type { OperationState } from './operation-state.ts';
import type { OperationResult } from './outcome.ts';
import type { PolicyDecision } from './policy-decision.ts';
import type { JsonObject } from './strict-json.ts';

/** What brought an operation to NEEDS_REVIEW. Only after `reconcile_deadline` may provider evidence settle it without a person. */
export type ReviewReason = Extract<
  OperationErrorCode,
  | 'reconcile_deadline'
  | 'evidence_contradicts'
  | 'effect_ambiguous'
  | 'effect_contrary'
  | 'provider_parameter_mismatch'
  | 'provider_token_in_use'
  | 'absence_not_proven'
  | 'command_changed'
  | 'grant_revoked'
>;

export interface Operation {
  readonly operationId: string;
  readonly accountId: string;
  readonly idempotencyKey: string;
  readonly kind: string;
  readonly kindVersion: number;
  readonly fingerprint: string;
  readonly fingerprintVersion: number;
  readonly command: JsonObject;
  readonly businessKey: string | null;
  readonly agentId: string;
  readonly agentRun: string | null;
  readonly traceparent: string | null;
  readonly status: OperationState;
  /** Grows by one with each change; every change names the version it read. */
  readonly version: number;
  readonly connection: string;
  readonly adapter: string;
  readonly providerToken: string;
  readonly providerReference: string | null;
  readonly plan: ExecutionPlan;
  /** What the policy said at the claim; null for operations that are older than policies. */
  readonly policyDecision: PolicyDecision | null;
  readonly safeResendUntil: string | null;
  readonly reviewReason: ReviewReason | null;
  readonly result: OperationResult | null;
  readonly error: OperationProblem | null;
  readonly lastError: OperationProblem | null;
  readonly unknownSince: string | null;
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly settledAt: string | null;
  /** The operation that holds the business key of this one, which was reopened. */
  readonly conflictsWith: string | null;
  /** An equal request under another key shortly before this one, which may have acted. */
  readonly possibleDuplicateOf: string | null;
  /** The person who settled it; from then on only people do. Null where evidence of the provider did. */
  readonly resolvedBy: string | null;
  /** Since when a settled operation holds words that retention may take; null while it is open. */
  readonly wordsAt: string | null;
  /** When retention took what is personal, and when an operator had it taken; null where it never was. */
  readonly expiredAt: string | null;
  readonly erasedAt: string | null;
}

/** What is true of every operation that nothing has happened to yet. */
const UNTOUCHED = {
  version: 1,
  providerReference: null,
  safeResendUntil: null,
  reviewReason: null,
  result: null,
  error: null,
  lastError: null,
  unknownSince: null,
  responseStatus: null,
  responseBody: null,
  settledAt: null,
  conflictsWith: null,
  resolvedBy: null,
  wordsAt: null,
  expiredAt: null,
  erasedAt: null,
} as const satisfies Partial<Operation>;

/** An operation as its claim leaves it. */
export function operationAtBirth(
  claimed: Omit<Operation, keyof typeof UNTOUCHED | 'updatedAt'>,
): Operation {
  return { ...claimed, ...UNTOUCHED, updatedAt: claimed.createdAt };
}

/** `null` while the call runs, or for ever when its worker was lost. */
export type AttemptOutcome = 'succeeded' | 'failed' | 'pending' | 'unknown' | 'not_sent' | null;

/** One write to the provider; the row is the intent, committed before anything is sent. */
export interface Attempt {
  readonly number: number;
  readonly purpose: 'dispatch' | 'resend';
  /** Null once retention or erasure took it. */
  readonly requestBody: string | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly outcome: AttemptOutcome;
  readonly error: OperationProblem | null;
  readonly worker: string;
}

export interface Approval {
  readonly approvalId: string;
  readonly status: 'pending' | 'approved' | 'rejected' | 'expired' | 'void';
  readonly reason: string;
  readonly expiresAt: string;
}

/** All that decides what comes next for an operation, and all that its representation shows. */
export interface OperationFile {
  readonly operation: Operation;
  readonly attempts: readonly Attempt[];
  readonly approval: Approval | null;
}

/** True where every attempt was definitely refused before it acted: only then may the next one be sent without asking first. */
export function onlyRefused(attempts: readonly Attempt[]): boolean {
  return attempts.every((one) => one.outcome === 'not_sent');
}

/** True where the next step is to ask the provider; false where it is to send, or to wait for a person. */
export function needsReconciliation(file: Pick<OperationFile, 'operation' | 'attempts'>): boolean {
  const { status } = file.operation;
  if (status === 'UNKNOWN' || status === 'RECONCILING') return true;
  return status === 'IN_PROGRESS' && !onlyRefused(file.attempts);
}

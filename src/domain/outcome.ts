// What a provider's answer means. Definite outcomes are an allow-list: an adapter says succeeded, failed or not_sent only where the
// provider documents it; everything else, every timeout and every surprise, is unknown.
import type { OperationProblem } from './operation-problem.ts';

/** Why nothing can be said. `in_use`: an earlier attempt with this token still runs. `token_mismatch`: the token names other parameters. */
export type UnknownReason =
  'lost_answer' | 'unclear_answer' | 'in_use' | 'token_mismatch' | 'already_exists' | 'worker_lost';

/** Small and free of personal data: it is stored, shown to operators and may pass through Temporal's history. */
export interface Evidence {
  readonly [name: string]: string | number | boolean | undefined;
}

/** What the operation's `result` member shows. */
export interface OperationResult {
  readonly [name: string]: string | number | boolean;
}

/** What a provider is called for. */
export type ProviderCall = 'write' | 'lookup' | 'precondition';

export type WriteOutcome =
  | {
      readonly status: 'succeeded';
      readonly reference: string;
      readonly result: OperationResult;
      readonly evidence: Evidence;
    }
  | {
      readonly status: 'failed';
      readonly error: OperationProblem;
      readonly evidence: Evidence;
    }
  /** Accepted, outcome follows: keep asking. */
  | {
      readonly status: 'pending';
      readonly reference?: string | undefined;
      readonly evidence: Evidence;
    }
  | { readonly status: 'unknown'; readonly reason: UnknownReason; readonly evidence: Evidence }
  /** Definitely not done and worth another try: connection refused, or a documented not-executed answer. */
  | { readonly status: 'not_sent'; readonly reason: string; readonly evidence: Evidence };

export type LookupAnswer =
  | {
      readonly status: 'found';
      /** `contrary`: our token, other parameters. `ambiguous`: more than one. */
      readonly match: 'matching' | 'contrary' | 'ambiguous';
      readonly state: 'done' | 'pending' | 'failed';
      readonly references: readonly string[];
      readonly result: OperationResult;
      readonly evidence: Evidence;
    }
  | { readonly status: 'absent'; readonly evidence: Evidence }
  | { readonly status: 'unavailable'; readonly evidence: Evidence };

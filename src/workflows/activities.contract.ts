// What the workflows ask of the activities: types only. Member names are persisted in histories.
import type { ExecutionPlan } from '../domain/execution-plan.ts';
import type { OperationState } from '../domain/operation-state.ts';
import type { WriteOutcome } from '../domain/outcome.ts';

/** Input of both workflows. No command: histories hold nothing that must be kept secret or erased. */
export interface OperationInput {
  readonly operation_id: string;
  readonly account_id: string;
  readonly kind: string;
  readonly fingerprint: string;
  readonly plan: ExecutionPlan;
}

/** The row as an activity left it, for people who watch the run; nothing is decided by it. */
export interface RowSeen {
  readonly status: OperationState;
  readonly unknown_since: string | null;
}

/** What follows, and where it is known how the row stands. */
export type DispatchStep = DispatchMove & { readonly row?: RowSeen };
export type LookStep = LookMove & { readonly row?: RowSeen };

type DispatchMove =
  /** Settled, or with a person. */
  | { readonly next: 'done' }
  /** Definitely refused at this attempt: the next one follows after its delay. */
  | { readonly next: 'retry'; readonly attempt: number }
  /** The outcome is open: ask the provider. */
  | { readonly next: 'reconcile' }
  /** An operator holds new intents back: ask again. */
  | { readonly next: 'held'; readonly in_ms: number }
  /** The provider doesn't say how its target stands: ask again. */
  | { readonly next: 'unreadable' }
  /** A person must decide first. */
  | { readonly next: 'await_approval' }
  /** The row changed while it was read: look at it again. */
  | { readonly next: 'again' }
  /** The provider answered and the answer couldn't be stored. */
  | { readonly next: 'record'; readonly attempt: number; readonly outcome: WriteOutcome };

type LookMove =
  | { readonly next: 'done' }
  | { readonly next: 'look'; readonly in_ms: number }
  | { readonly next: 'resend' };

export interface OperationActivities {
  /**
   * Intent, call, outcome. Sends at most once per attempt number; run again it finds its intent and sends nothing. `unreadable`: how often
   * the preconditions could not be read so far.
   */
  dispatch(input: OperationInput, attempt: number, unreadable?: number): Promise<DispatchStep>;
  /** The same, in reconciliation: same token, same stored bytes, only while nothing else has changed. */
  resend(input: OperationInput): Promise<DispatchStep>;
  /** Writes an answer down that a dispatch could not store. */
  recordOutcome(
    input: OperationInput,
    attempt: number,
    outcome: WriteOutcome,
  ): Promise<DispatchStep>;
  /** One look: first at our own ledger, then at the provider; writes down what it found and what follows. */
  lookUpOutcome(input: OperationInput): Promise<LookStep>;
  /** Cancels the operation if nothing was sent; else changes nothing. */
  cancelBeforeIntent(input: OperationInput): Promise<void>;
  /** Milliseconds to wait on for the decision; null where nobody has to decide (any more). */
  approvalWait(input: OperationInput): Promise<number | null>;
  /** Checks what came as a signal, and writes down where it is none of the desk's; whatever it is, it never throws for it. */
  receiveDecision(input: OperationInput, decision: unknown): Promise<void>;
}

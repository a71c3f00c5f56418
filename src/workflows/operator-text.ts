// What Temporal Web says about an open run: what is known, what it waits for, and what an operator can do. Ids and states only.
import type { OperationState } from '../domain/operation-state.ts';

/** Where a run is: the state of its operation, or why it stands still in it. */
export type Standing =
  OperationState | 'held' | 'refused' | 'at_provider' | 'unreadable' | 'target_unreadable';

interface Told {
  readonly known: string;
  readonly next: string;
  readonly you: string;
  /** Heading of `docs/runbook.md`, as its link. */
  readonly anchor: string;
}

const SETTLED: Omit<Told, 'known'> = {
  next: 'Nothing: the operation is settled.',
  you: 'Nothing to do.',
  anchor: 'in-temporal-web',
};

const TEXTS: Readonly<Record<Standing, Told>> = {
  PENDING: {
    known: 'Claimed. Nothing has been sent.',
    next: 'The first write to the provider.',
    you: 'Cancel this run: nothing will be sent.',
    anchor: 'in-temporal-web',
  },
  AWAITING_APPROVAL: {
    known: 'Nothing has been sent. A person must agree first.',
    next: 'The decision of an approver, or the end of the offer.',
    you: 'Cancel this run: nothing will be sent.',
    anchor: 'in-temporal-web',
  },
  IN_PROGRESS: {
    known: 'A write is under way.',
    next: 'The answer of the provider.',
    you: 'Nothing to do: it ends by itself.',
    anchor: 'in-temporal-web',
  },
  held: {
    known: 'An operator has paused the connection or halted the account.',
    next: 'The end of the hold; it is asked for again and again.',
    you: 'Resume or unhalt.',
    anchor: 'pause-and-halt',
  },
  refused: {
    known: 'The provider could not be reached, or refused before it did anything.',
    next: 'The next try, with the same token and the same bytes.',
    you: 'Nothing to do: after the last try it fails by itself.',
    anchor: 'in-temporal-web',
  },
  at_provider: {
    known: 'The provider has accepted the write and works on it.',
    next: 'The next look at the provider, or its event.',
    you: 'Ask the provider where it takes long.',
    anchor: 'a-reconciliation-does-not-end',
  },
  target_unreadable: {
    known: 'Nothing has been sent. The provider does not say how its target stands.',
    next: 'The next look at the target, before anything is sent.',
    you: 'Cancel this run: nothing will be sent.',
    anchor: 'in-temporal-web',
  },
  unreadable: {
    known: 'The row could not be read, or changed while it was read.',
    next: 'The next look at the row.',
    you: 'See whether Postgres answers.',
    anchor: 'is-it-well',
  },
  UNKNOWN: {
    known: 'The answer of the provider was lost: the write may have acted or not.',
    next: 'Its reconciliation, which asks the provider.',
    you: 'Do not submit it again. Have the provider asked now, or look at the reconciliation.',
    anchor: 'a-lost-answer-seen-in-temporal-web',
  },
  RECONCILING: {
    known: 'The answer of the provider was lost, and the provider is being asked.',
    next: 'The next look at the provider.',
    you: 'Have it asked now, or resolve the operation with evidence.',
    anchor: 'a-reconciliation-does-not-end',
  },
  NEEDS_REVIEW: {
    known: 'The evidence does not decide. Nothing happens by itself any more.',
    next: 'A person.',
    you: 'Resolve it with evidence.',
    anchor: 'needs_review',
  },
  SUCCEEDED: { known: 'The provider has done it.', ...SETTLED },
  FAILED: { known: 'It did not happen: there is evidence of that.', ...SETTLED },
  REJECTED: { known: 'It was not allowed. Nothing was sent.', ...SETTLED },
  EXPIRED: { known: 'Nobody agreed in time. Nothing was sent.', ...SETTLED },
  CANCELED: { known: 'It was called off. Nothing was sent.', ...SETTLED },
};

/** Markdown, as Temporal Web renders it. */
export function operatorText(
  standing: Standing,
  operationId: string,
  status: OperationState | undefined,
): string {
  const { known, next, you, anchor } = TEXTS[standing];
  return [
    `**${status ?? 'State not known'}** · ${operationId}`,
    `**Known:** ${known}`,
    `**Waits for:** ${next}`,
    `**You can:** ${you}`,
    `**Runbook:** docs/runbook.md#${anchor}`,
  ].join('\n\n');
}

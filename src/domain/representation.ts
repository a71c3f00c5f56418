// The one renderer of an operation: what POST and GET answer, what is stored when it settles, and what is replayed for ever after.
import type { OperationFile } from './operation.ts';
import { isSettled, type OperationState } from './operation-state.ts';

interface Guidance {
  readonly message: string;
  readonly next_action: string;
  readonly retry: 'wait' | 'never' | 'ask_human';
  readonly safe_to_use_new_key: boolean;
}

const wait = (message: string, next_action = 'poll'): Guidance => ({
  message,
  next_action,
  retry: 'wait',
  safe_to_use_new_key: false,
});

/** A sentence per state, and what a machine should do (contract §4). */
export const GUIDANCE: Readonly<Record<OperationState, Guidance>> = {
  PENDING: wait('Claimed; it has not been sent yet. Ask again.'),
  AWAITING_APPROVAL: wait('Waiting for a person to decide about this request.', 'await_approval'),
  IN_PROGRESS: wait('The provider is working on it. Ask again.'),
  UNKNOWN: wait(
    'The answer was lost. The provider is being asked what happened. Do not submit a new one.',
  ),
  RECONCILING: wait('The provider is being asked what happened. Do not submit a new one.'),
  NEEDS_REVIEW: {
    message: 'What happened could not be settled without a person. Do not submit a new one.',
    next_action: 'contact_operator',
    retry: 'ask_human',
    safe_to_use_new_key: false,
  },
  SUCCEEDED: {
    message: 'Done.',
    next_action: 'none',
    retry: 'never',
    safe_to_use_new_key: false,
  },
  FAILED: {
    message: 'It definitely did not happen. Change the request, then use a new key.',
    next_action: 'change_request',
    retry: 'never',
    safe_to_use_new_key: true,
  },
  REJECTED: {
    message: 'Refused; nothing was done.',
    next_action: 'do_not_retry',
    retry: 'ask_human',
    safe_to_use_new_key: false,
  },
  EXPIRED: {
    message: 'Nobody decided in time; nothing was done.',
    next_action: 'contact_operator',
    retry: 'ask_human',
    safe_to_use_new_key: true,
  },
  CANCELED: {
    message: 'Canceled before anything was sent.',
    next_action: 'none',
    retry: 'never',
    safe_to_use_new_key: true,
  },
};

/** When it is worth asking again. Lost answers take the provider's own time, so asking faster helps nobody. */
const NEXT_POLL_MS: Partial<Record<OperationState, number>> = {
  PENDING: 500,
  IN_PROGRESS: 500,
  UNKNOWN: 2_000,
  RECONCILING: 2_000,
  AWAITING_APPROVAL: 15_000,
};

/** Milliseconds until it is worth asking again; undefined where asking changes nothing. */
export function nextPollMs(state: OperationState): number | undefined {
  return NEXT_POLL_MS[state];
}

/** The representation as JSON text. Equal files give equal bytes: member order is fixed here. */
export function renderOperation(file: OperationFile): string {
  return JSON.stringify(representationOf(file));
}

/** The representation as an object (contract §4, "Operation representation"). */
export function representationOf({ operation: o, attempts, approval }: OperationFile) {
  const guidance = GUIDANCE[o.status];
  const pollMs = nextPollMs(o.status);
  return {
    operation_id: o.operationId,
    kind: o.kind,
    kind_version: o.kindVersion,
    status: o.status,
    message: guidance.message,
    next_action: guidance.next_action,
    retry: guidance.retry,
    safe_to_use_new_key: guidance.safe_to_use_new_key,
    ...(pollMs === undefined ? {} : { next_poll_ms: pollMs }),
    idempotency_key: o.idempotencyKey,
    fingerprint: o.fingerprint,
    command: o.command,
    result: o.result,
    error: o.error,
    agent_id: o.agentId,
    agent_run: o.agentRun,
    connection: o.connection,
    provider: { adapter: o.adapter, token: o.providerToken, reference: o.providerReference },
    approval: approval && {
      approval_id: approval.approvalId,
      status: approval.status,
      reason: approval.reason,
      expires_at: approval.expiresAt,
    },
    attempts: attempts.map((one) => ({
      number: one.number,
      started_at: one.startedAt,
      ended_at: one.endedAt,
      outcome: one.outcome,
      error: one.error,
      worker: one.worker,
    })),
    last_error: o.lastError,
    possible_duplicate_of: o.possibleDuplicateOf,
    conflicts_with: o.conflictsWith,
    unknown_since: o.unknownSince,
    created_at: o.createdAt,
    updated_at: o.updatedAt,
    settled_at: isSettled(o.status) ? o.settledAt : null,
    // Shown only where it happened: then the command is not all of what was asked for.
    ...(o.expiredAt === null ? {} : { expired_at: o.expiredAt }),
    ...(o.erasedAt === null ? {} : { erased_at: o.erasedAt }),
  };
}

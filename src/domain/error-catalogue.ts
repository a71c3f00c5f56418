// Every way in which a request is refused: one code, its HTTP status, and what a machine should do next. The codes are part
// of the public contract ("Problem codes"): none is renamed or given another status.

/** The next step of a client that obeys. */
export type NextAction =
  | 'poll'
  | 'await_approval'
  | 'retry_same_key'
  | 'change_request'
  | 'contact_operator'
  | 'do_not_retry'
  | 'none';

/** When to try again: after a while, after a person has decided, or not at all. */
export type Retry = 'wait' | 'ask_human' | 'never';

/** One line of the catalogue, named as on the wire. */
export interface ProblemDefinition {
  readonly status: number;
  readonly title: string;
  readonly next_action: NextAction;
  readonly retry: Retry;
  /**
   * Always false. A refusal speaks of one request; an earlier one with the same key may have been carried out, and only the
   * operation's own state can say that it was not.
   */
  readonly safe_to_use_new_key: false;
}

function refusal(
  status: number,
  title: string,
  next_action: NextAction,
  retry: Retry,
): ProblemDefinition {
  return { status, title, next_action, retry, safe_to_use_new_key: false };
}

/** The catalogue. Where `change_request` stands, the corrected request is sent under the same key. */
export const PROBLEMS = {
  idempotency_key_missing: refusal(400, 'Idempotency key missing', 'change_request', 'never'),
  idempotency_key_invalid: refusal(400, 'Idempotency key not valid', 'change_request', 'never'),
  invalid_json: refusal(400, 'Body is not strict JSON', 'change_request', 'never'),
  invalid_parameter: refusal(400, 'Parameter not valid', 'change_request', 'never'),
  unauthenticated: refusal(401, 'Credential missing or not valid', 'contact_operator', 'ask_human'),
  forbidden: refusal(403, 'Not allowed for this principal', 'contact_operator', 'ask_human'),
  policy_denied: refusal(403, 'Denied by policy', 'do_not_retry', 'ask_human'),
  own_request: refusal(403, 'Own requests are decided by others', 'do_not_retry', 'ask_human'),
  not_found: refusal(404, 'Not found', 'change_request', 'never'),
  unknown_kind: refusal(404, 'Kind of operation not known', 'change_request', 'never'),
  // The caller believes that it has sent this key before: it has the wrong key or the wrong account.
  unknown_key: refusal(404, 'Idempotency key not known', 'do_not_retry', 'ask_human'),
  method_not_allowed: refusal(405, 'Method not allowed', 'change_request', 'never'),
  fingerprint_mismatch: refusal(
    409,
    'Key was used for another request',
    'do_not_retry',
    'ask_human',
  ),
  key_known: refusal(409, 'Key was sent before', 'poll', 'wait'),
  business_duplicate: refusal(
    409,
    'Already requested under another key',
    'do_not_retry',
    'ask_human',
  ),
  target_busy: refusal(409, 'Target is busy with another operation', 'retry_same_key', 'wait'),
  not_refundable: refusal(409, 'Not refundable', 'change_request', 'never'),
  precondition_failed: refusal(409, 'Precondition does not hold', 'change_request', 'never'),
  too_late_to_cancel: refusal(409, 'Too late to cancel', 'poll', 'wait'),
  approval_decided: refusal(409, 'Approval is already decided', 'do_not_retry', 'never'),
  approval_fingerprint_mismatch: refusal(
    409,
    'Approval shows another request',
    'do_not_retry',
    'ask_human',
  ),
  wrong_state: refusal(409, 'State does not allow this', 'poll', 'wait'),
  not_resolvable: refusal(409, 'Not resolvable now', 'poll', 'wait'),
  lookup_required: refusal(409, 'Look up the outcome first', 'change_request', 'wait'),
  second_person_required: refusal(409, 'A second person is needed', 'do_not_retry', 'ask_human'),
  approval_expired: refusal(410, 'Approval has expired', 'contact_operator', 'ask_human'),
  payload_too_large: refusal(413, 'Body too large', 'change_request', 'never'),
  unsupported_media_type: refusal(415, 'Media type not supported', 'change_request', 'never'),
  invalid_command: refusal(422, 'Command not valid', 'change_request', 'never'),
  rate_limited: refusal(429, 'Too many requests', 'retry_same_key', 'wait'),
  internal_error: refusal(500, 'Internal error', 'retry_same_key', 'wait'),
  unavailable: refusal(503, 'Not available now', 'retry_same_key', 'wait'),
} as const satisfies Readonly<Record<string, ProblemDefinition>>;

/** A code that a refused request may be answered with. */
export type ProblemCode = keyof typeof PROBLEMS;

/** Why an operation came to its state: the code in its `error` member, and the sentence beside it. */
export const OPERATION_ERRORS = {
  provider_declined: 'The provider refused the request; nothing was done.',
  provider_unavailable: 'The provider could not take the request in time; nothing was done.',
  provider_parameter_mismatch:
    'The provider knows the token with other parameters; a person has to look at it.',
  provider_token_in_use:
    'The provider says that an earlier attempt still runs; a person has to look at it.',
  effect_absent: 'The provider has shown that the request was not carried out.',
  absence_not_proven:
    'The provider does not show the effect, and that does not prove that there is none.',
  effect_ambiguous: 'The provider shows more than one effect that could be this operation.',
  effect_contrary: 'The provider shows an effect with other parameters.',
  evidence_contradicts: 'Evidence of the provider contradicts what was settled.',
  reconcile_deadline: 'What became of the request was not found out in time.',
  command_changed: 'The stored command is not the one that was claimed; nothing more was sent.',
  grant_revoked:
    'The submitter may no longer do this: its grant was taken back, or it was disabled.',
  policy_denied: 'Policy denied the operation before anything was sent.',
  precondition_failed: 'A precondition did not hold; nothing was sent.',
  approval_rejected: 'A person rejected the request; nothing was sent.',
  approval_expired: 'Nobody approved the request in time; nothing was sent.',
  canceled: 'The operation was canceled before anything was sent.',
  resolved_as_failed: 'A person has found out, with evidence, that it was not carried out.',
} as const satisfies Readonly<Record<string, string>>;

/** A code in the `error` member of an operation. */
export type OperationErrorCode = keyof typeof OPERATION_ERRORS;

// The one error that becomes an answer. Expected results are values; this is for what ends a request early.
import { PROBLEMS, type ProblemCode } from './error-catalogue.ts';

/** What is wrong with one member of a command; the pointer is a JSON Pointer (RFC 6901) into the body. */
export interface MemberFault {
  readonly pointer: string;
  readonly detail: string;
}

/** What a problem may say beyond its code, named as on the wire. Never a payload, and nothing of another account. */
export interface ProblemMembers {
  readonly operation_id?: string;
  /** State of that operation; not `status`, which RFC 9457 keeps for the HTTP status. */
  readonly operation_status?: string;
  readonly approval_id?: string;
  /** Where in a body that is not strict JSON. */
  readonly pointer?: string;
  /** Name of the query parameter or header that can't be used. */
  readonly parameter?: string;
  readonly errors?: readonly MemberFault[];
  /** Also sent as `Retry-After`; here for doors without headers. */
  readonly retry_after_seconds?: number;
}

/** Carries a code of the catalogue to the border, where it becomes a problem document. */
export class HoldfastError extends Error {
  override readonly name = 'HoldfastError';
  readonly code: ProblemCode;
  /** A sentence on this occurrence, for the caller. */
  readonly detail: string;
  readonly members: ProblemMembers;

  constructor(
    code: ProblemCode,
    detail: string,
    members: ProblemMembers = {},
    options?: ErrorOptions,
  ) {
    super(`${code}: ${detail}`, options);
    this.code = code;
    this.detail = detail;
    this.members = members;
  }

  /** The HTTP status of its code. */
  get status(): number {
    return PROBLEMS[this.code].status;
  }
}

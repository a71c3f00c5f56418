// Errors as RFC 9457 problem details, for every door.
import { PROBLEMS, type ProblemCode, type ProblemDefinition } from './error-catalogue.ts';
import type { HoldfastError, ProblemMembers } from './operation-error.ts';

/** Media type of a problem document (RFC 9457 section 3). */
export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/** The body of a refused request. */
export interface ProblemDocument extends ProblemDefinition, ProblemMembers {
  readonly type: string;
  readonly code: ProblemCode;
  readonly detail: string;
}

/** The document of an error. The catalogue's members come last, so that no error can change its own status or code. */
export function problemDocument(error: HoldfastError): ProblemDocument {
  const { code, detail, members } = error;
  return { ...members, type: problemType(code), code, detail, ...PROBLEMS[code] };
}

/**
 * Identifies a type of problem. A reference with a full path (RFC 9457 section 3.1.1): every installation has its own
 * host, and an address at a host that isn't ours would outlive whoever holds it.
 */
export function problemType(code: ProblemCode): string {
  return `/problems/${code}`;
}

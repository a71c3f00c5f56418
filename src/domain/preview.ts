// What a submit would come to now, from what was found without claiming anything. Only a claim decides: all of this may have changed by then.
import type { ProblemCode } from './error-catalogue.ts';
import type { OperationState } from './operation-state.ts';

/** Something that stands in the way, as the refusal that a submit would get. */
interface Conflict {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly operation_id?: string;
  readonly operation_status?: OperationState;
}

/** An operation that exists already. */
interface Existing {
  readonly operationId: string;
  readonly status: OperationState;
}

export interface PreviewFindings {
  /** What the sent key names; undefined without key, or where it is free. */
  readonly known: (Existing & { readonly isSameRequest: boolean }) | undefined;
  readonly hasKey: boolean;
  readonly mode: 'first' | 'retry' | 'any';
  readonly targetRefusal: { readonly code: ProblemCode; readonly detail: string } | undefined;
  readonly holder: Existing | undefined;
  readonly onDuplicate: 'refuse' | 'reuse';
  /** Why the policy denies it; undefined where it doesn't. */
  readonly denial: string | undefined;
}

export interface PreviewVerdict {
  /** `replay`: the key names this request already. `reuse`: the key would stand for another operation. */
  readonly would: 'create' | 'replay' | 'reuse' | 'refuse';
  /** The operation that would be answered with. */
  readonly existing: Existing | undefined;
  /** In the order in which a submit asks; the first one is its refusal. */
  readonly conflicts: readonly Conflict[];
}

/** Judges in the order of a submit: a known key is answered before any rule that depends on now. */
export function judgePreview(findings: PreviewFindings): PreviewVerdict {
  const { known, holder, onDuplicate } = findings;
  const ofKey = keyConflict(findings);
  if (ofKey) return { would: 'refuse', existing: undefined, conflicts: [ofKey] };
  if (known) return { would: 'replay', existing: known, conflicts: [] };
  const conflicts = ruleConflicts(findings);
  if (conflicts.length > 0) return { would: 'refuse', existing: undefined, conflicts };
  if (holder && onDuplicate === 'reuse') return { would: 'reuse', existing: holder, conflicts };
  return { would: 'create', existing: undefined, conflicts };
}

function keyConflict({ known, hasKey, mode }: PreviewFindings): Conflict | undefined {
  if (known && !known.isSameRequest) {
    return { code: 'fingerprint_mismatch', detail: 'The key names another request.', ...of(known) };
  }
  if (known && mode === 'first') {
    return { code: 'key_known', detail: 'The key was submitted before.', ...of(known) };
  }
  if (!known && hasKey && mode === 'retry') {
    return { code: 'unknown_key', detail: 'Nothing was ever submitted under this key.' };
  }
  return undefined;
}

function ruleConflicts({
  targetRefusal,
  holder,
  onDuplicate,
  denial,
}: PreviewFindings): Conflict[] {
  const ofTarget = targetRefusal ? [targetRefusal] : [];
  // What is reused exists already: the policy is not asked again.
  if (holder && onDuplicate === 'reuse') return ofTarget;
  const detail = 'Another key already asked for this.';
  return [
    ...ofTarget,
    ...(holder ? [{ code: 'business_duplicate' as const, detail, ...of(holder) }] : []),
    ...(denial === undefined ? [] : [{ code: 'policy_denied' as const, detail: denial }]),
  ];
}

function of({
  operationId,
  status,
}: Existing): Pick<Conflict, 'operation_id' | 'operation_status'> {
  return { operation_id: operationId, operation_status: status };
}

// What passes between the door and the use case.
import type { IdempotencyMode } from '../domain/idempotency-key.ts';
import type { OperationFile } from '../domain/operation.ts';
import type { JsonValue } from '../domain/strict-json.ts';
import type { KnownKey } from '../store/operations.store.ts';
import type { Principal } from '../store/principals.store.ts';

/** A request that is well-formed as such; whether it may and can be done comes later. */
export interface Submission {
  readonly key: string;
  readonly mode: IdempotencyMode;
  readonly body: JsonValue;
  readonly agentRun: string | null;
  readonly traceparent: string | null;
}

/** A submission together with who makes it and what for. */
export interface SubmitRequest extends Submission {
  readonly principal: Principal;
  /** What the key already stood for when the request came. */
  readonly known: KnownKey | undefined;
  readonly kind: string;
}

export type Disposition = 'created' | 'in_progress' | 'replayed' | 'reused';

export interface Submitted {
  readonly disposition: Disposition;
  readonly file: OperationFile;
}

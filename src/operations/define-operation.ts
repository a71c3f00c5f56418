// What a kind of operation is: one declaration. Workflows, activities, API and store know no kinds.
import { z } from 'zod';
import type { PolicyDecision } from '../domain/policy.ts';
import type { JsonObject } from '../domain/strict-json.ts';

/** A kind as it is declared. `kind` and `version` are persisted: never renamed, and a changed schema is a new version. */
export interface OperationDeclaration<Shape extends z.ZodRawShape, Command extends JsonObject> {
  readonly kind: string;
  readonly version: number;
  /** What a client may send; unknown members are refused. */
  readonly input: Shape;
  /** The validated, canonical command, which the fingerprint covers. Report faults to `context` with their path. */
  readonly canonicalise: (
    input: z.output<z.ZodObject<Shape, z.core.$strict>>,
    context: z.RefinementCtx,
  ) => Command;
  /** Uniqueness across keys within account and kind; null where two equal commands are two operations. */
  readonly businessKey: (command: Command) => string | null;
  /** Whether it may run at once. */
  readonly policy: (command: Command) => PolicyDecision;
}

/** A kind as the rest of the product sees it. */
export interface OperationDefinition {
  readonly kind: string;
  readonly version: number;
  /** Body in, canonical command out. */
  readonly command: z.ZodType<JsonObject>;
  readonly businessKey: (command: JsonObject) => string | null;
  readonly policy: (command: JsonObject) => PolicyDecision;
}

/** Says that this equals an earlier operation on purpose; part of every kind and of the fingerprint. */
const intendedRepeatOf = z.string().min(1).max(255).optional();

export function defineOperation<Shape extends z.ZodRawShape, Command extends JsonObject>(
  declaration: OperationDeclaration<Shape, Command>,
): OperationDefinition {
  const { kind, version, input, canonicalise, businessKey, policy } = declaration;
  const command = z
    .strictObject({ ...input, intended_repeat_of: intendedRepeatOf })
    .transform((value, context) => {
      const { intended_repeat_of: repeatOf, ...rest } = value as Record<string, unknown>;
      const canonical = canonicalise(rest as never, context);
      return repeatOf === undefined
        ? canonical
        : { ...canonical, intended_repeat_of: repeatOf as string };
    });
  return {
    kind,
    version,
    command,
    businessKey: (value) => businessKey(value as Command),
    policy: (value) => policy(value as Command),
  };
}

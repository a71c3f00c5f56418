// What a kind of operation is: one declaration. Workflows, activities, API and store know no kinds.
import { z } from 'zod';
import { businessKeyOf } from '../domain/business-key.ts';
import type { CardTextOf } from '../domain/card-text.ts';
import type { KindFacts } from '../domain/policy.ts';
import type { JsonObject } from '../domain/strict-json.ts';
import type { Admission, Target } from '../domain/target.ts';
import { identifier } from './members.ts';

/** For kinds that act on an earlier operation: which member names it, and whether it may be acted on. */
export interface TargetRule<Command> {
  readonly kind: string;
  readonly operationId: (command: Command) => string;
  /** True where succeeding undoes the earlier operation or a part of it. */
  readonly compensates?: boolean;
  /** Asked at the claim under the target's lock, with all that others hold of it. */
  readonly admit: (target: Target, command: Command) => Admission;
}

/** A kind as it is declared. `kind` and `version` are persisted: never renamed, and a changed schema is a new version. */
export interface OperationDeclaration<Shape extends z.ZodRawShape, Command extends JsonObject> {
  readonly kind: string;
  readonly version: number;
  /** One sentence for people and models: what succeeding means. */
  readonly summary: string;
  /** What a client may send; unknown members are refused. */
  readonly input: Shape;
  /** A body that is accepted; for documents. */
  readonly example: z.input<z.ZodObject<Shape, z.core.$strict>>;
  /** The validated, canonical command, which the fingerprint covers. Report faults to `context` with their path. */
  readonly canonicalise: (
    input: z.output<z.ZodObject<Shape, z.core.$strict>>,
    context: z.RefinementCtx,
  ) => Command;
  /** The parts that name one piece of business within account and kind; null where equal commands are two operations. */
  readonly businessKey: (command: Command) => readonly string[] | null;
  /** What a taken business key means: refuse the newcomer, or let its key stand for the operation that has it. */
  readonly onDuplicate: 'refuse' | 'reuse';
  /**
   * Members that name somebody or are somebody's words; retention and erasure take them from command and result. Policy and target
   * rules must do without them.
   */
  readonly personal: readonly (keyof NoInfer<Command> & string)[];
  readonly target?: TargetRule<Command>;
  /** What rules of the policy may ask about a command; `target` is the command of the operation that it acts on, null where none is known. */
  readonly facts: (command: Command, target: JsonObject | null) => KindFacts;
  /** What a person reads who decides about it. */
  readonly card: CardTextOf<Command>;
}

/** A kind as the rest of the product sees it. */
export interface OperationDefinition {
  readonly kind: string;
  readonly version: number;
  readonly summary: string;
  /** The body as a client sends it; for schemas in documents. */
  readonly input: z.ZodType;
  readonly example: JsonObject;
  /** Body in, canonical command out. */
  readonly command: z.ZodType<JsonObject>;
  readonly businessKey: (command: JsonObject) => string | null;
  readonly onDuplicate: 'refuse' | 'reuse';
  /** Members of command and result that retention and erasure take. */
  readonly personal: readonly string[];
  readonly target: TargetRule<JsonObject> | null;
  readonly facts: (command: JsonObject, target: JsonObject | null) => KindFacts;
  readonly card: CardTextOf<JsonObject>;
}

/** Says that this equals an earlier operation on purpose; part of every kind and of the fingerprint. */
const intendedRepeatOf = identifier
  .meta({
    description:
      'Operation id of an equal earlier operation. Part of the fingerprint, so this one is not marked as its possible duplicate; it lifts no uniqueness, and an invoice is still paid once.',
  })
  .optional();

export function defineOperation<Shape extends z.ZodRawShape, Command extends JsonObject>(
  declaration: OperationDeclaration<Shape, Command>,
): OperationDefinition {
  const { canonicalise, businessKey, target, facts, card, input: shape, ...rest } = declaration;
  const input = z.strictObject({ ...shape, intended_repeat_of: intendedRepeatOf });
  const command = input.transform((value, context) => {
    const { intended_repeat_of: repeatOf, ...own } = value as Record<string, unknown>;
    const canonical = canonicalise(own as never, context);
    return repeatOf === undefined
      ? canonical
      : { ...canonical, intended_repeat_of: repeatOf as string };
  });
  return {
    ...rest,
    input,
    example: declaration.example as JsonObject,
    command,
    businessKey(value) {
      const parts = businessKey(value as Command);
      return parts && businessKeyOf(parts);
    },
    target: target ? (target as unknown as TargetRule<JsonObject>) : null,
    facts: (value, targetCommand) => facts(value as Command, targetCommand),
    card: (value, found) => card(value as Command, found),
  };
}

// A body against the schema of its kind: the canonical command, or every fault with its place.
import type { ZodError } from 'zod';
import type { OperationDefinition } from '../operations/define-operation.ts';
import { HoldfastError, type MemberFault } from '../domain/operation-error.ts';
import type { JsonObject, JsonValue } from '../domain/strict-json.ts';

/** The canonical command; throws `invalid_command` with `errors[{pointer, detail}]`. */
export function parseCommand(definition: OperationDefinition, body: JsonValue): JsonObject {
  const parsed = definition.command.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new HoldfastError('invalid_command', `This is no ${definition.kind}.`, {
    errors: faultsOf(parsed.error),
  });
}

/** Every fault with its place, as problem documents show them. */
export function faultsOf(error: ZodError): MemberFault[] {
  return error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({
          pointer: pointerTo([...issue.path, key]),
          detail: 'is not a member here',
        }))
      : [{ pointer: pointerTo(issue.path), detail: issue.message }],
  );
}

/** JSON Pointer (RFC 6901 §3); names are the client's own and bounded by the body. */
function pointerTo(path: readonly PropertyKey[]): string {
  return path
    .map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}

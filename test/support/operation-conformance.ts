// What every kind of operation promises, whatever it does. A kind's own test gives examples and calls this once.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/domain/canonical-json.ts';
import type { FrozenTarget } from '../../src/domain/execution-plan.ts';
import { fingerprintOf } from '../../src/domain/fingerprint.ts';
import { parseStrictJson, type JsonObject, type JsonValue } from '../../src/domain/strict-json.ts';
import { parseIdentifier } from '../../src/domain/text.ts';
import type { OperationDefinition } from '../../src/operations/define-operation.ts';
import { currentDefinition, definitionOf, KINDS } from '../../src/operations/registry.ts';
import type { ProviderAdapter } from '../../src/providers/provider.ts';

export interface ConformanceCase {
  readonly definition: OperationDefinition;
  /** A body with the required members only. */
  readonly minimal: JsonObject;
  /** A body with every member. */
  readonly complete: JsonObject;
  /** Any acceptable body; each run makes its own. */
  readonly bodies: fc.Arbitrary<JsonObject>;
  /** Bodies that spell the same request in two ways. */
  readonly spellings: readonly (readonly [JsonObject, JsonObject])[];
  /** Adapters that must have a mapping for the kind. */
  readonly adapters: readonly ProviderAdapter[];
  /** What the plan would freeze, for kinds that act on an earlier operation. */
  readonly target?: FrozenTarget;
}

/** The faults that the schema finds, by JSON Pointer; empty where it accepts. */
export function faultsOf(definition: OperationDefinition, body: JsonValue): string[] {
  const parsed = definition.command.safeParse(body);
  if (parsed.success) return [];
  return parsed.error.issues.flatMap((issue) => {
    const names = issue.code === 'unrecognized_keys' ? issue.keys : [''];
    return names.map((name) => `/${[...issue.path, name].join('/')}`.replace(/(?<=.)\/$/, ''));
  });
}

/** The command of a body as the door reads it, from bytes. */
export function commandOf(definition: OperationDefinition, body: JsonValue): JsonObject {
  return definition.command.parse(throughJson(body));
}

function throughJson(body: JsonValue): JsonValue {
  const read = parseStrictJson(new TextEncoder().encode(JSON.stringify(body)));
  if (!read.ok) throw new Error(read.detail);
  return read.value;
}

const reversed = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).toReversed());

const without = (body: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([member]) => member !== name));

/** A body with one more member of that name, as JSON text would give it: `__proto__` is then a member like any other. */
const withMember = (body: JsonObject, name: string, value: JsonValue): JsonValue =>
  throughJson(
    JSON.parse(
      `{${JSON.stringify(name)}:${JSON.stringify(value)},${JSON.stringify(body).slice(1)}`,
    ),
  );

/** Registers the suite for one kind. */
export function describeConformance(kindCase: ConformanceCase): void {
  const { definition, minimal, complete, bodies, spellings, adapters, target = null } = kindCase;
  const required = Object.keys(minimal);
  const members = Object.keys(complete);
  const fingerprint = (body: JsonValue) =>
    fingerprintOf({
      accountId: 'acct_a',
      kind: definition.kind,
      kindVersion: definition.version,
      command: commandOf(definition, body),
    });

  describe(`the kind ${definition.kind}`, () => {
    it('is registered under its name and version', () => {
      expect(KINDS).toContain(definition.kind);
      expect(currentDefinition(definition.kind)).toBe(definition);
      expect(definitionOf(definition.kind, definition.version)).toBe(definition);
    });

    it('has a name that can stand in a path', () => {
      expect(definition.kind).toMatch(/^[a-z][a-z_]{0,63}$/);
    });

    it('takes a body with the required members, and one with all of them', () => {
      expect(faultsOf(definition, minimal)).toEqual([]);
      expect(faultsOf(definition, complete)).toEqual([]);
    });

    it.each(required)('refuses a body without %s, naming it', (name) => {
      expect(faultsOf(definition, without(minimal, name))).toContain(`/${name}`);
    });

    it.each(members)('refuses null as %s', (name) => {
      expect(faultsOf(definition, { ...complete, [name]: null })).toContain(`/${name}`);
    });

    it.each(members)('refuses an object as %s', (name) => {
      const found = faultsOf(definition, { ...complete, [name]: { of: 'another type' } });
      expect(found.some((pointer) => pointer.startsWith(`/${name}`))).toBe(true);
    });

    it.each(['surprise', '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'kind', ''])(
      'refuses the unknown member "%s"',
      (name) => {
        expect(faultsOf(definition, withMember(complete, name, 'x'))).not.toEqual([]);
        expect(faultsOf(definition, withMember(complete, name, { a: 1 }))).not.toEqual([]);
      },
    );

    it.each([null, true, 1, 'text', [], [{}]])('refuses %j as a body', (body) => {
      expect(definition.command.safeParse(body).success).toBe(false);
    });

    it('takes intended_repeat_of, which is part of the fingerprint', () => {
      const repeat = { ...minimal, intended_repeat_of: 'op_1' };
      expect(commandOf(definition, repeat)['intended_repeat_of']).toBe('op_1');
      expect(fingerprint(repeat)).not.toBe(fingerprint(minimal));
      expect(faultsOf(definition, { ...minimal, intended_repeat_of: '' })).not.toEqual([]);
    });

    it('has one command for one request, whatever the order of members', () => {
      fc.assert(
        fc.property(bodies, (body) => {
          const [one, other] = [body, reversed(body)].map((each) => commandOf(definition, each));
          expect(canonicalJson(other ?? null)).toBe(canonicalJson(one ?? null));
          expect(fingerprint(reversed(body))).toBe(fingerprint(body));
        }),
      );
    });

    it('has one fingerprint and business key for two spellings of one request', () => {
      for (const [one, other] of spellings) {
        expect(fingerprint(other)).toBe(fingerprint(one));
        const [a, b] = [one, other].map((each) => commandOf(definition, each));
        expect(definition.businessKey(b ?? {})).toBe(definition.businessKey(a ?? {}));
      }
    });

    it('has commands that survive JSON and, read again, are the same', () => {
      fc.assert(
        fc.property(bodies, (body) => {
          const command = commandOf(definition, body);
          expect(throughJson(command)).toEqual(command);
          expect(commandOf(definition, command)).toEqual(command);
        }),
      );
    });

    it('has commands without undefined or null, which no stored row could tell apart', () => {
      fc.assert(
        fc.property(bodies, (body) => {
          const command = commandOf(definition, body);
          expect(Object.values(command)).not.toContain(undefined);
          expect(Object.values(command)).not.toContain(null);
        }),
      );
    });

    it('has a business key that depends on the command alone and fits an index', () => {
      fc.assert(
        fc.property(bodies, (body) => {
          const key = definition.businessKey(commandOf(definition, body));
          expect(definition.businessKey(commandOf(definition, reversed(body)))).toBe(key);
          if (key !== null) expect(Buffer.byteLength(key)).toBeLessThanOrEqual(2_600);
        }),
      );
    });

    it('tells the policy the same of equal commands: names and amounts, nothing that somebody wrote at length', () => {
      const facts = (body: JsonObject) => definition.facts(commandOf(definition, body), null);
      fc.assert(
        fc.property(bodies, (body) => {
          expect(facts(reversed(body))).toEqual(facts(body));
          const { money: _, ...names } = facts(body);
          for (const name of Object.values(names)) {
            if (name !== undefined) expect(parseIdentifier(name).ok).toBe(true);
          }
        }),
      );
    });

    it('names as personal only members that it has', () => {
      expect(members).toEqual(expect.arrayContaining([...definition.personal]));
    });

    it.each(adapters.map((adapter) => [adapter.name, adapter] as const))(
      'has a mapping in the adapter %s, which gives equal bytes for equal commands',
      (_, adapter) => {
        fc.assert(
          fc.property(bodies, (body) => {
            const [one, other] = [body, reversed(body)].map((each) =>
              adapter.requestFor(definition.kind, commandOf(definition, each), target),
            );
            expect(other).toBe(one);
            expect(() => JSON.parse(one ?? '')).not.toThrow();
          }),
        );
      },
    );
  });
}

// The API's document: generated from the declarations of the routes, so these hold the declarations to the app and to what is answered.
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import * as fc from 'fast-check';
import type { Express } from 'express';
import { describe, expect, it } from 'vitest';
import { createApp } from '../../src/api/app.ts';
import type { ApiDependencies } from '../../src/api/dependencies.ts';
import { ALL_CONTRACTS } from '../../src/api/openapi/all-contracts.ts';
import { API_VERSION, openApiDocument } from '../../src/api/openapi/document.ts';
import { PROBLEMS, type ProblemCode } from '../../src/domain/error-catalogue.ts';
import { parseIdempotencyKey } from '../../src/domain/idempotency-key.ts';
import { HoldfastError } from '../../src/domain/operation-error.ts';
import { OPERATION_STATES, isSettled } from '../../src/domain/operation-state.ts';
import { problemDocument } from '../../src/domain/problem.ts';
import { renderOperation } from '../../src/domain/representation.ts';
import { currentDefinition, KINDS } from '../../src/operations/registry.ts';
import { APPROVAL, attemptOf, fileOf, T0 } from '../support/operation-file.ts';

/** What the tests look at. */
interface Document {
  readonly paths: Record<string, Record<string, Described>>;
  readonly components: { readonly schemas: Record<string, unknown> };
}
interface Described {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly required?: boolean;
    readonly schema: { readonly pattern?: string };
  }[];
  readonly responses: Record<string, { content?: Record<string, { schema: unknown }> }>;
}

const document = openApiDocument() as unknown as Document;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => ({ path, method, described })),
);

/** Routes and what they refuse need no database until they are called. */
const app = createApp({ logger: {} } as unknown as ApiDependencies);

interface Layer {
  readonly route?: { readonly path: string; readonly methods: Record<string, boolean> };
  readonly handle?: { readonly stack?: readonly Layer[] };
}

function routesOf(stack: readonly Layer[]): string[] {
  return stack.flatMap(({ route, handle }) => {
    if (!route) return routesOf(handle?.stack ?? []);
    const methods = Object.keys(route.methods).filter((name) => name !== '_all');
    return methods.map((method) => `${method} ${withoutNames(route.path)}`);
  });
}

/** Names of path parameters are ours and theirs; the shape is the route. */
const withoutNames = (path: string): string =>
  path.replaceAll(/\{[^}]+\}|:[A-Za-z_]+/g, '{}').replace(/(?<=.)\/$/, '');

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema(document, 'https://holdfast.invalid/openapi.json');

function faultsBy(pointer: string, value: unknown): string[] {
  const validate = ajv.compile({ $ref: `https://holdfast.invalid/openapi.json#${pointer}` });
  validate(value);
  return (validate.errors ?? []).map((one) => `${one.instancePath} ${one.message}`);
}

const faultsOf = (name: string, value: unknown): string[] =>
  faultsBy(`/components/schemas/${name}`, value);

describe('the OpenAPI document', () => {
  it('has every route of the app, and the app has every route of it', () => {
    const { stack } = (app as Express & { router: { stack: readonly Layer[] } }).router;
    const declared = ALL_CONTRACTS.map(({ method, path }) => `${method} ${withoutNames(path)}`);
    expect(routesOf(stack).toSorted()).toEqual([...new Set(declared)].toSorted());
  });

  it('is the committed copy, docs/openapi.json (scripts/generate-openapi.mjs writes it)', () => {
    const copy = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
    expect(JSON.parse(copy)).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it('carries the version of the package', () => {
    const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
    expect(API_VERSION).toBe((JSON.parse(manifest) as { version: string }).version);
  });

  it('names every operation once', () => {
    const ids = operations.map(({ described }) => described.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has no two paths that differ only by the name of a parameter', () => {
    const shapes = Object.keys(document.paths).map((path) => path.replaceAll(/\{[^}]+\}/g, '{}'));
    expect(new Set(shapes).size).toBe(shapes.length);
  });

  it('has a path of its own for submit and preview of every kind', () => {
    for (const kind of KINDS) {
      expect(document.paths).toHaveProperty([`/agent/operations/${kind}`, 'post']);
      expect(document.paths).toHaveProperty([`/agent/operations/${kind}/preview`, 'post']);
    }
  });

  it('resolves every reference and compiles every schema', () => {
    for (const { path, method, described } of operations) {
      for (const [status, { content = {} }] of Object.entries(described.responses)) {
        for (const type of Object.keys(content)) {
          const parts = ['paths', path, method, 'responses', status, 'content', type, 'schema'];
          expect(() => faultsBy(pointerOf(parts), {})).not.toThrow();
        }
      }
    }
  });

  it('shows every problem code of the catalogue at some route', () => {
    const text = JSON.stringify(document.paths);
    const missing = Object.keys(PROBLEMS).filter((code) => !text.includes(`"${code}"`));
    expect(missing).toEqual([]);
  });
});

const pointerOf = (parts: readonly string[]): string =>
  parts
    .map((part) => `/${encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))}`)
    .join('');

describe('what is answered', () => {
  it.each(OPERATION_STATES)('is the documented operation in state %s', (status) => {
    const settledAt = isSettled(status) ? T0 : null;
    const bare = JSON.parse(renderOperation(fileOf({ status, settledAt })));
    expect(faultsOf('Operation', bare)).toEqual([]);
    const full = fileOf(
      {
        status,
        settledAt,
        agentRun: 'run-1',
        providerReference: 'pay_1',
        result: { payment_id: 'pay_1' },
        error: { code: 'provider_declined', message: 'declined' },
        lastError: { code: 'provider_unavailable', message: 'refused' },
        unknownSince: T0,
        conflictsWith: 'op_2',
      },
      [attemptOf(1, 'unknown'), attemptOf(2, null)],
      APPROVAL,
    );
    expect(faultsOf('Operation', JSON.parse(renderOperation(full)))).toEqual([]);
  });

  it('is not the documented operation with a member more, less, or in another type', () => {
    const good = JSON.parse(renderOperation(fileOf())) as Record<string, unknown>;
    expect(faultsOf('Operation', { ...good, surprise: 1 })).not.toEqual([]);
    const { fingerprint: _, ...less } = good;
    expect(faultsOf('Operation', less)).not.toEqual([]);
    expect(faultsOf('Operation', { ...good, status: 'RUNNING' })).not.toEqual([]);
  });

  it.each(Object.keys(PROBLEMS) as ProblemCode[])('is the documented problem for %s', (code) => {
    const full = new HoldfastError(code, 'detail', {
      operation_id: 'op_1',
      operation_status: 'PENDING',
      approval_id: 'apr_1',
      pointer: '/a',
      parameter: 'status',
      errors: [{ pointer: '/amount', detail: 'too much' }],
      retry_after_seconds: 2,
    });
    expect(faultsOf('Problem', problemDocument(full))).toEqual([]);
    expect(faultsOf('Problem', problemDocument(new HoldfastError(code, 'detail')))).toEqual([]);
  });
});

describe('the documented Idempotency-Key', () => {
  const documented = document.paths['/agent/operations/payment']?.['post']?.parameters?.find(
    ({ name }) => name === 'Idempotency-Key',
  );
  const pattern = new RegExp(documented?.schema.pattern ?? 'missing');
  const reads = (text: string): boolean => parseIdempotencyKey([text]).ok;

  it('is required at a submit and not at a preview', () => {
    expect(documented?.required).toBe(true);
    const preview = document.paths['/agent/operations/payment/preview']?.['post']?.parameters;
    expect(preview?.find(({ name }) => name === 'Idempotency-Key')?.required ?? false).toBe(false);
  });

  it('has a pattern that takes exactly what is taken', () => {
    const parts = fc.constantFrom('"', '\\', "'", ',', ';', ' ', 'a', 'Z', '0', '/', '[', '~', '!');
    const inside = fc.string({ unit: parts, maxLength: 8 });
    const values = fc.oneof(
      inside,
      inside.map((text) => `"${text}"`),
    );
    fc.assert(
      // Blanks around the value belong to the line, not to the key.
      fc.property(values, (text) => text !== text.trim() || pattern.test(text) === reads(text)),
      { numRuns: 5_000 },
    );
  });

  it.each([255, 256])('has the bound of the parser: %i characters', (length) => {
    for (const text of ['k'.repeat(length), `"${'k'.repeat(length)}"`]) {
      expect(pattern.test(text)).toBe(length === 255);
      expect(reads(text)).toBe(length === 255);
    }
  });
});

describe('the example of a kind', () => {
  it.each(KINDS)('is a command of %s', (kind) => {
    const definition = currentDefinition(kind);
    expect(definition?.command.safeParse(definition.example).success).toBe(true);
  });
});

// The OpenAPI document, generated from the declarations of the routes.
import {
  createDocument,
  type CreateDocumentOptions,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from 'zod-openapi';
import type { OperationDefinition } from '../../operations/define-operation.ts';
import { currentDefinition, KINDS } from '../../operations/registry.ts';
import { ALL_CONTRACTS } from './all-contracts.ts';
import type { RouteContract } from './contract.ts';
import { operation } from './operation.schema.ts';
import { problem } from './problem.schema.ts';
import { answersOf, problemsOf } from './responses.ts';

/** The version in package.json; a test holds them together. */
export const API_VERSION = '0.1.0';

const DESCRIPTION = [
  'An execution layer between agents and the providers they act on: one operation, one key, and every lost answer settled by asking.',
  'Send one `Idempotency-Key` per intended action and repeat the same request until the answer is settled. Each answer says what a machine should do next (`next_action`, `retry`, `safe_to_use_new_key`). Refusals are problem documents (RFC 9457).',
].join('\n\n');

const OPTIONS: CreateDocumentOptions = {
  // A transform's output is code; its answer is declared by the schemas of answers.
  allowEmptySchema: { transform: true },
};

/** A new copy of the document. */
export function openApiDocument(): ReturnType<typeof createDocument> {
  return createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'Holdfast',
        version: API_VERSION,
        description: DESCRIPTION,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      security: [{ bearer: [] }],
      tags: [...new Set(ALL_CONTRACTS.map(({ tag }) => tag))].map((name) => ({ name })),
      paths: pathsOf(ALL_CONTRACTS),
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description:
              'An API key, or a token (JWT) of the configured identity provider. The account comes from it and from nowhere else.',
          },
        },
        schemas: { Operation: operation, Problem: problem },
      },
    },
    OPTIONS,
  );
}

function pathsOf(routes: readonly RouteContract[]): ZodOpenApiPathsObject {
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes) {
    for (const { path, operation: described } of expanded(route)) {
      paths[path] = { ...paths[path], [route.method]: described };
    }
  }
  return paths;
}

function expanded(route: RouteContract) {
  if (route.body !== 'command') return [{ path: route.path, operation: describe(route) }];
  return KINDS.flatMap((kind) => {
    const definition = currentDefinition(kind);
    if (!definition) return [];
    return [{ path: route.path.replace('{kind}', kind), operation: describe(route, definition) }];
  });
}

function describe(
  route: RouteContract,
  definition?: OperationDefinition,
): ZodOpenApiOperationObject {
  const { pathParameters: path, query, headers: header, body } = route;
  const named = definition ? `_${definition.kind}` : '';
  const description = [definition?.summary, route.description];
  const content = body === 'command' && definition ? commandContent(definition) : contentOf(body);
  return {
    operationId: `${route.operationId}${named}`,
    tags: [route.tag],
    summary: definition ? `${route.summary}: ${definition.kind}` : route.summary,
    description: description.filter((text) => text !== undefined).join('\n\n'),
    ...securityOf(route),
    requestParams: {
      ...(path && { path }),
      ...(query && { query }),
      ...(header && { header }),
    },
    ...(content && { requestBody: { required: true, content } }),
    responses: { ...problemsOf(route), ...answersOf(route) },
  };
}

function commandContent({ input, example }: OperationDefinition) {
  return { 'application/json': { schema: input, example } };
}

function contentOf(body: RouteContract['body']) {
  if (body === undefined || body === 'command') return undefined;
  return { 'application/json': { schema: body.schema, example: body.example } };
}

/** The roles stand in an extension: OpenAPI knows scopes for OAuth only. */
function securityOf({ roles }: RouteContract): Partial<ZodOpenApiOperationObject> {
  return typeof roles === 'string' ? { security: [] } : { 'x-roles': [...roles] };
}

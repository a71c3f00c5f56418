// Answers and refusals of a route for the document.
import type { ZodOpenApiResponsesObject } from 'zod-openapi';
import { PROBLEMS, type ProblemCode } from '../../domain/error-catalogue.ts';
import { PROBLEM_MEDIA_TYPE, problemType } from '../../domain/problem.ts';
import {
  problemCodesOf,
  type Answer,
  type ResponseHeader,
  type RouteContract,
} from './contract.ts';
import { operation } from './operation.schema.ts';

const HEADERS = {
  'Operation-Disposition': {
    description: 'What this answer is to the key.',
    schema: { type: 'string', enum: ['created', 'in_progress', 'replayed', 'reused'] },
  },
  Location: {
    description: 'Where the operation is read.',
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Seconds after which asking again is worth it.',
    schema: { type: 'integer', minimum: 0 },
  },
  'Idempotent-Replayed': {
    description: '`true` where the stored bytes are answered.',
    schema: { type: 'string', enum: ['true'] },
  },
} as const satisfies Record<ResponseHeader, object>;

/** Where a client goes from an operation. */
const LINKS = Object.fromEntries(
  ['readOperation', 'listRelatedOperations', 'cancelOperation'].map((operationId) => [
    operationId,
    { operationId, parameters: { operation_id: '$response.body#/operation_id' } },
  ]),
);

/** What a route answers where it does what it was asked. */
export function answersOf({ answers }: RouteContract): ZodOpenApiResponsesObject {
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [status, answered(answer)]),
  ) as ZodOpenApiResponsesObject;
}

function answered({ description, schema, mediaType, headers = [], example }: Answer) {
  const body = schema
    ? { schema, ...(example && { example }) }
    : { schema: { type: 'string' as const } };
  return {
    description,
    ...(headers.length > 0 && {
      headers: Object.fromEntries(headers.map((name) => [name, HEADERS[name]])),
    }),
    ...((schema || mediaType) && { content: { [mediaType ?? 'application/json']: body } }),
    ...(schema === operation && { links: LINKS }),
  };
}

/** What a route refuses: one response per status, with the codes that it may have. */
export function problemsOf(route: RouteContract): ZodOpenApiResponsesObject {
  const codes = problemCodesOf(route);
  const statuses = [...new Set(codes.map((code) => PROBLEMS[code].status))].toSorted(
    (a, b) => a - b,
  );
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      refusal(codes.filter((code) => PROBLEMS[code].status === status)),
    ]),
  ) as ZodOpenApiResponsesObject;
}

const WAITS = new Set<ProblemCode>(['rate_limited', 'unavailable']);

function refusal(codes: readonly ProblemCode[]) {
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}.`).join('\n\n'),
    ...(codes.some((code) => WAITS.has(code)) && {
      headers: { 'Retry-After': HEADERS['Retry-After'] },
    }),
    content: {
      [PROBLEM_MEDIA_TYPE]: {
        schema: {
          allOf: [{ $ref: '#/components/schemas/Problem' }],
          properties: { code: { enum: [...codes] } },
        },
        examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }])),
      },
    },
  };
}

function exampleOf(code: ProblemCode) {
  return { type: problemType(code), code, detail: PROBLEMS[code].title, ...PROBLEMS[code] };
}

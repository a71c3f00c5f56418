// The document of the API, and its page for people.
import { z } from 'zod';
import { contracts } from '../openapi/contract.ts';

export const documentationContracts = contracts({
  document: {
    method: 'get',
    path: '/openapi.json',
    operationId: 'openApiDocument',
    tag: 'Documentation',
    summary: 'This document',
    roles: 'public',
    answers: {
      200: { description: 'OpenAPI 3.1.', schema: z.record(z.string(), z.unknown()) },
    },
    problems: [],
  },
  page: {
    method: 'get',
    path: '/docs',
    operationId: 'documentationPage',
    tag: 'Documentation',
    summary: 'This document for people',
    roles: 'public',
    answers: { 200: { description: 'A page.', mediaType: 'text/html' } },
    problems: [],
  },
  file: {
    method: 'get',
    path: '/docs/{file}',
    operationId: 'documentationFile',
    tag: 'Documentation',
    summary: 'Scripts and styles of the page',
    roles: 'public',
    pathParameters: z.object({ file: z.string() }),
    answers: { 200: { description: 'A script or style.', mediaType: '*/*' } },
    problems: ['not_found'],
  },
});

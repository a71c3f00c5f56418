// What the health checks answer.
import { z } from 'zod';
import { contracts } from '../openapi/contract.ts';

const readiness = z.strictObject({
  status: z.enum(['ok', 'degraded', 'unavailable']),
  postgres: z.boolean(),
  temporal: z.boolean(),
  policy: z.boolean().meta({
    description:
      'False where the policy file can not be used as it stands: the one before it is in force.',
  }),
});

export const healthContracts = contracts({
  healthz: {
    method: 'get',
    path: '/healthz',
    operationId: 'healthz',
    tag: 'Health',
    summary: 'The process is alive',
    roles: 'public',
    answers: {
      200: { description: 'Alive.', schema: z.strictObject({ status: z.literal('ok') }) },
    },
    problems: [],
  },
  readyz: {
    method: 'get',
    path: '/readyz',
    operationId: 'readyz',
    tag: 'Health',
    summary: 'Claims can be written',
    description:
      'Without the workflow engine it is `degraded` and still ready, once it has been ready before: claims are durable and carried out later.',
    roles: 'public',
    answers: {
      200: { description: 'Ready.', schema: readiness },
      503: { description: 'Not ready.', schema: readiness },
    },
    problems: [],
  },
});

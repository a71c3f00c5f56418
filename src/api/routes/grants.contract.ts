// What changing grants takes and answers.
import { z } from 'zod';
import { contracts, type RouteContract } from '../openapi/contract.ts';

const shared = {
  path: '/operator/principals/{principal_id}/grants/{kind}',
  tag: 'Operators',
  description: 'Only agents hold grants. Repeating it changes nothing.',
  roles: ['admin'],
  pathParameters: z.object({ principal_id: z.string(), kind: z.string() }),
  query: z.strictObject({}),
  answers: {
    200: {
      description: 'The kinds that the agent may submit and read now.',
      schema: z.strictObject({ principal_id: z.string(), grants: z.array(z.string()) }),
    },
  },
  problems: ['not_found', 'unknown_kind', 'wrong_state'],
} as const satisfies Partial<RouteContract>;

export const grantContracts = contracts({
  grant: {
    ...shared,
    method: 'put',
    operationId: 'grantKind',
    summary: 'Let an agent submit and read a kind',
  },
  revoke: {
    ...shared,
    method: 'delete',
    operationId: 'revokeKind',
    summary: 'Take a kind from an agent',
  },
});

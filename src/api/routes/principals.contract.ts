// What administering principals takes and answers.
import { z } from 'zod';
import { roleFault, ROLES } from '../../domain/principal.ts';
import { contracts, type RouteContract } from '../openapi/contract.ts';
import { cursor, identifierText, kindName, limit, nextCursor, time } from '../openapi/members.ts';

const role = z.enum(ROLES);

const name = z
  .string()
  .regex(/^[a-z0-9_-]{1,64}$/)
  .meta({ description: 'Its id is the account, a dot and this.', example: 'billing-agent' });

export const principalBody = z
  .strictObject({
    name,
    owner: identifierText.meta({
      description: 'The human or team behind it: nobody decides on what their own owner submitted.',
    }),
    roles: z.array(role).min(1).max(ROLES.length).meta({ description: 'An agent has no other.' }),
    grants: z
      .array(kindName)
      .max(100)
      .default([])
      .meta({ description: 'Kinds that an agent may submit and read; others have none.' }),
  })
  .superRefine(({ roles, grants }, context) => {
    const fault = roleFault(roles);
    if (fault !== undefined) context.addIssue({ code: 'custom', path: ['roles'], message: fault });
    if (grants.length > 0 && !roles.includes('agent')) {
      context.addIssue({ code: 'custom', path: ['grants'], message: 'only agents hold grants' });
    }
  });

const principal = z.strictObject({
  principal_id: z.string(),
  owner: z.string(),
  roles: z.array(role),
  grants: z.array(z.string()),
  signs_in_by: z.enum(['api_key', 'oidc']),
  created_at: time,
  disabled_at: time.nullable(),
});

export type PrincipalShown = z.output<typeof principal>;

const page = z.strictObject({ principals: z.array(principal), next_cursor: nextCursor });

export type PrincipalsShown = z.output<typeof page>;

export const principalsQuery = z.strictObject({ limit, cursor });

export const principalInPath = z.object({ principal_id: z.string() });

const none = z.strictObject({});

const switched = {
  method: 'post',
  tag: 'Administration',
  roles: ['admin'],
  pathParameters: principalInPath,
  query: none,
  answers: { 200: { description: 'The principal as it is now.', schema: principal } },
  problems: ['not_found', 'wrong_state'],
} as const satisfies Partial<RouteContract>;

export const principalContracts = contracts({
  create: {
    method: 'post',
    path: '/operator/principals',
    operationId: 'createPrincipal',
    tag: 'Administration',
    summary: 'Let somebody act in the account',
    description: 'It has no key yet.',
    roles: ['admin'],
    query: none,
    body: {
      schema: principalBody,
      example: { name: 'billing-agent', owner: 'billing', roles: ['agent'], grants: ['payment'] },
    },
    answers: { 201: { description: 'The principal.', schema: principal } },
    problems: ['invalid_command', 'wrong_state'],
  },
  list: {
    method: 'get',
    path: '/operator/principals',
    operationId: 'listPrincipals',
    tag: 'Administration',
    summary: 'Who may act in the account',
    description: 'By id; those of the identity provider from their first token on.',
    roles: ['admin'],
    query: principalsQuery,
    answers: { 200: { description: 'One page.', schema: page } },
    problems: [],
  },
  disable: {
    ...switched,
    path: '/operator/principals/{principal_id}/disable',
    operationId: 'disablePrincipal',
    summary: 'Refuse a principal, whatever credential it shows',
    description:
      'What it has submitted and is not sent yet is not sent. Repeating it changes nothing.',
  },
  enable: {
    ...switched,
    path: '/operator/principals/{principal_id}/enable',
    operationId: 'enablePrincipal',
    summary: 'Take a principal again',
    description: 'Its keys work as before. Repeating it changes nothing.',
  },
});

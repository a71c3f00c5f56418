// What pausing and halting take and answer.
import { z } from 'zod';
import { contracts, type RouteContract } from '../openapi/contract.ts';
import { time } from '../openapi/members.ts';

export const holdShown = z
  .strictObject({
    scope: z.enum(['account', 'all_accounts']),
    connection: z.string().nullable().meta({ description: 'Null: every connection.' }),
    since: time,
    principal_id: z
      .string()
      .nullable()
      .meta({ description: 'Who set it; null where that is somebody of another account.' }),
  })
  .meta({ id: 'Hold' });

export type HoldShown = z.output<typeof holdShown>;

const held = z.strictObject({
  connection: z.string().nullable(),
  held: z.boolean().meta({ description: 'True while any hold applies, whoever set it.' }),
  holds: z.array(holdShown),
});

export type Held = z.output<typeof held>;

const shared = {
  method: 'post',
  tag: 'Operators',
  description:
    'An operator acts for the own account, an admin for all accounts. Nothing in flight is dropped. Repeating it changes nothing.',
  roles: ['operator', 'admin'],
  query: z.strictObject({}),
  answers: { 200: { description: 'The holds that apply now.', schema: held } },
} as const satisfies Partial<RouteContract>;

const pathParameters = z.object({ name: z.string() });

export const operatorHoldContracts = contracts({
  pause: {
    ...shared,
    path: '/operator/connections/{name}/pause',
    operationId: 'pauseConnection',
    summary: 'Stop new intents of a connection',
    pathParameters,
    problems: ['not_found'],
  },
  resume: {
    ...shared,
    path: '/operator/connections/{name}/resume',
    operationId: 'resumeConnection',
    summary: 'Let a paused connection go on',
    pathParameters,
    problems: ['not_found'],
  },
  halt: {
    ...shared,
    path: '/operator/halt',
    operationId: 'halt',
    summary: 'Stop new intents of all connections',
    problems: [],
  },
  unhalt: {
    ...shared,
    path: '/operator/unhalt',
    operationId: 'unhalt',
    summary: 'Lift the halt',
    problems: [],
  },
});

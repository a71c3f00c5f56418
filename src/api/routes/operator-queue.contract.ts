// What the operator's queue takes and answers.
import { z } from 'zod';
import { contracts } from '../openapi/contract.ts';
import { cursor, limit, nextCursor, operationId, time } from '../openapi/members.ts';
import { operationState } from '../openapi/operation.schema.ts';
import { holdShown } from './operator-holds.contract.ts';

const queueQuery = z.strictObject({ limit, cursor });

export type QueueQuery = z.output<typeof queueQuery>;

const why = z.object({ code: z.string(), message: z.string() });

const money = z.strictObject({ amount: z.string(), currency: z.string() });

const entry = z.strictObject({
  operation_id: operationId,
  kind: z.string(),
  status: operationState,
  since: time.meta({ description: 'When it came to this state.' }),
  review_reason: z.string().nullable(),
  error: why.nullable(),
  last_error: why.nullable(),
  money_at_risk: money.nullable().meta({ description: 'Null where it moves no money.' }),
  agent_id: z.string(),
  idempotency_key: z.string(),
  connection: z.string(),
  provider: z.strictObject({
    adapter: z.string(),
    token: z.string(),
    reference: z.string().nullable(),
  }),
  attempts: z.int().min(0),
  last_lookup: z
    .strictObject({
      verdict: z.string().meta({ description: 'found, absent or unavailable' }),
      match: z.string().nullable(),
      state: z.string().nullable(),
      at: time,
    })
    .nullable(),
  deadline: time.nullable().meta({
    description: 'When looking ends and a person has to decide; null once that is so.',
  }),
  held: z.boolean().meta({ description: 'A pause or halt keeps it from being sent again.' }),
  resolved_by: z
    .string()
    .nullable()
    .meta({ description: 'The person who had settled it before evidence reopened it.' }),
  awaiting_second: z.array(
    z.strictObject({
      outcome: z.enum(['succeeded', 'failed']),
      provider_reference: z.string().nullable(),
      principal_id: z.string(),
      at: time,
    }),
  ),
  unknown_since: time.nullable(),
  created_at: time,
});

const queue = z.strictObject({
  operations: z.array(entry),
  total: z.int().min(0).meta({ description: 'Operations in the whole queue.' }),
  money_at_risk: z
    .array(z.strictObject({ ...money.shape, operations: z.int().min(1) }))
    .meta({ description: 'Sums over the whole queue, one per currency.' }),
  holds: z.array(holdShown),
  next_cursor: nextCursor,
});

export type Queue = z.output<typeof queue>;

export const operatorQueueContracts = contracts({
  queue: {
    method: 'get',
    path: '/operator/queue',
    operationId: 'readOperatorQueue',
    tag: 'Operators',
    summary: 'What waits for an answer or for a person',
    description: 'UNKNOWN, RECONCILING and NEEDS_REVIEW operations of the account, oldest first.',
    roles: ['operator'],
    query: queueQuery,
    answers: { 200: { description: 'One page.', schema: queue } },
    problems: [],
  },
});

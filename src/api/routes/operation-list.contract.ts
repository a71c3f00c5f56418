// What lists of operations and of what belongs to one take and answer.
import { z } from 'zod';
import { contracts } from '../openapi/contract.ts';
import {
  cursor,
  identifierText,
  keyText,
  limit,
  nextCursor,
  operationId,
  operationIdInPath,
  time,
} from '../openapi/members.ts';
import { operation, operationState } from '../openapi/operation.schema.ts';

/** Postgres and Date agree on times between these; nothing was claimed outside of them. */
const EARLIEST_MS = 0;
const LATEST_MS = Date.parse('9999-12-31T23:59:59Z');

const createdAfter = z.iso
  .datetime({ offset: true, error: 'send an RFC 3339 time with its offset; a plus is written %2B' })
  .transform((text, context) => {
    const ms = Date.parse(text);
    if (!Number.isNaN(ms)) {
      return new Date(Math.min(Math.max(ms, EARLIEST_MS), LATEST_MS)).toISOString();
    }
    context.addIssue({ code: 'custom', message: 'there is no such time' });
    return z.NEVER;
  });

/** Query of `GET /agent/operations`. */
export const listQuery = z.strictObject({
  status: operationState.optional(),
  kind: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,63}$/)
    .meta({ description: 'Name of a kind.', example: 'payment' })
    .optional(),
  idempotency_key: keyText
    .meta({
      description:
        'The key as plain text, without the quotes of the header. A key that was claimed as an alias finds the operation it stands for.',
    })
    .optional(),
  business_key: z
    .string()
    .min(1)
    .max(4_000)
    .meta({
      description:
        'What the kind holds unique. A key of one part (an invoice id) is sent as it is; a key of several parts is a JSON array of texts, as in `["OPS","evt-1"]`. A single part that itself reads as such an array is sent inside one.',
      example: 'inv_1',
    })
    .optional(),
  customer_id: identifierText
    .meta({ description: 'Operations whose command names this customer.', example: 'cus_1' })
    .optional(),
  created_after: createdAfter
    .meta({
      description: 'RFC 3339 with offset; operations claimed later than this.',
      example: '2026-01-02T03:04:05Z',
    })
    .optional(),
  limit,
  cursor,
});

export type ListQuery = z.output<typeof listQuery>;

const related = z.strictObject({
  relation: z
    .enum(['compensation', 'compensates', 'acted_on_by', 'acts_on', 'reused_by', 'conflicts_with'])
    .meta({
      description: [
        'compensation: undoes this operation or a part of it, such as a refund.',
        'compensates: this operation undoes that one.',
        'acted_on_by: acts on this operation without undoing it, such as a capture.',
        'acts_on: what this operation acts on.',
        'reused_by: another key that stands for this operation.',
        'conflicts_with: holds the business key that this reopened operation would hold.',
      ].join('\n\n'),
    }),
  operation_id: operationId,
  kind: z.string(),
  status: operationState,
  idempotency_key: z.string(),
  created_at: time,
  amount: z
    .string()
    .optional()
    .meta({ description: 'Share of the target, where one of the two acts on the other.' }),
  currency: z.string().optional(),
  holds_share: z
    .boolean()
    .optional()
    .meta({ description: 'False once nothing was done and the share was given back.' }),
});

export type Related = z.output<typeof related>;

export const operationListContracts = contracts({
  list: {
    method: 'get',
    path: '/agent/operations',
    operationId: 'listOperations',
    tag: 'Operations',
    summary: 'List operations, newest first',
    description:
      'Ordered by `created_at`, then `operation_id`, both descending. A cursor is a place in that order, so what is claimed meanwhile moves no page; it is a list and not a feed: new operations stand before the first page. Agents see the kinds they are granted. Settled operations are shown as they are stored.',
    roles: ['agent', 'approver', 'operator'],
    query: listQuery,
    answers: {
      200: {
        description: 'One page.',
        schema: z.strictObject({ operations: z.array(operation), next_cursor: nextCursor }),
      },
    },
    problems: [],
  },
  related: {
    method: 'get',
    path: '/agent/operations/{operation_id}/related',
    operationId: 'listRelatedOperations',
    tag: 'Operations',
    summary: 'What acts on an operation, what it acts on, and keys that stand for it',
    description:
      'Oldest first. Also shows operations that did nothing and gave back what they held. Agents see the kinds they are granted.',
    roles: ['agent', 'approver', 'operator'],
    pathParameters: operationIdInPath,
    query: z.strictObject({}),
    answers: {
      200: {
        description: 'Everything related; `truncated` where there is more than is shown.',
        schema: z.strictObject({ related: z.array(related), truncated: z.boolean() }),
      },
    },
    problems: ['not_found'],
  },
});

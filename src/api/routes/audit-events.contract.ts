// What the reading of audit events takes and answers.
import { z } from 'zod';
import { AUDIT_TYPES } from '../../store/audit.store.ts';
import { contracts } from '../openapi/contract.ts';
import { cursor, nextCursor, operationId, time } from '../openapi/members.ts';
import { operationState } from '../openapi/operation.schema.ts';

export const eventsQuery = z.strictObject({ operation_id: operationId.optional(), cursor });

const event = z
  .strictObject({
    event_id: z.string().meta({ description: 'Digits; names the event for ever.' }),
    sequence: z
      .int()
      .nullable()
      .meta({ description: 'Place in the hash chain of the account; null until it is sealed.' }),
    hash: z
      .string()
      .nullable()
      .meta({ description: 'Of the sealed entry, over the hash before it; see docs/audit.md.' }),
    type: z.enum(AUDIT_TYPES),
    operation_id: operationId.nullable(),
    at: time,
    from: operationState.optional(),
    to: operationState.optional(),
    decision: z.string().optional(),
    principal: z.string().nullable(),
    agent_run: z.string().nullable(),
    route: z.string().nullable(),
    key: z.string().nullable().meta({ description: 'The idempotency key that was sent.' }),
    fingerprint: z.string().nullable(),
    response_hash: z
      .string()
      .nullable()
      .meta({ description: 'SHA-256 of the stored bytes, where this event stored some.' }),
    provider_reference: z.string().nullable(),
    detail: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'Further ids and codes. Never a payload.' }),
  })
  .meta({ id: 'AuditEvent' });

export type Event = z.output<typeof event>;

export const auditEventsContracts = contracts({
  events: {
    method: 'get',
    path: '/audit/events',
    operationId: 'listAuditEvents',
    tag: 'Audit',
    summary: 'Audit events of the account, oldest first',
    description:
      'In the order of the transactions that wrote them. An event is shown once no older transaction is still running, normally within milliseconds; so a reader that follows the cursors misses none, and the last page can be asked for again with the cursor that led to it.',
    roles: ['auditor', 'operator'],
    query: eventsQuery,
    answers: {
      200: {
        description: 'At most 100 events.',
        schema: z.strictObject({ events: z.array(event), next_cursor: nextCursor }),
      },
    },
    problems: [],
  },
});

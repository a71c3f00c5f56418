// The representation of an operation as clients read it. A test renders every state and validates it against this.
import { z } from 'zod';
import { GUIDANCE } from '../../domain/representation.ts';
import { OPERATION_STATES } from '../../domain/operation-state.ts';
import { fingerprint, kindName, operationId, time } from './members.ts';

export const operationState = z.enum(OPERATION_STATES).meta({
  id: 'OperationState',
  description: OPERATION_STATES.map((state) => `${state}: ${GUIDANCE[state].message}`).join('\n\n'),
});

const why = z.strictObject({ code: z.string(), message: z.string() }).meta({
  id: 'OperationError',
  description: 'Why it did not succeed, or why an attempt did not.',
});

const jsonObject = z.record(z.string(), z.unknown());

const attempt = z
  .strictObject({
    number: z.int().min(1),
    started_at: time,
    ended_at: time.nullable(),
    outcome: z
      .enum(['succeeded', 'failed', 'pending', 'unknown', 'not_sent'])
      .nullable()
      .meta({ description: 'null while it runs, and for ever where its worker was lost.' }),
    error: why.nullable(),
    worker: z.string(),
  })
  .meta({ id: 'Attempt', description: 'One write to the provider.' });

const approval = z.strictObject({
  approval_id: z.string(),
  status: z.enum(['pending', 'approved', 'rejected', 'expired', 'void']),
  reason: z.string(),
  expires_at: time,
});

export const operation = z
  .strictObject({
    operation_id: operationId,
    kind: kindName,
    kind_version: z.int().min(1),
    status: operationState,
    message: z.string(),
    next_action: z.enum([
      'poll',
      'await_approval',
      'contact_operator',
      'change_request',
      'do_not_retry',
      'none',
    ]),
    retry: z.enum(['wait', 'never', 'ask_human']),
    safe_to_use_new_key: z.boolean(),
    next_poll_ms: z.int().min(0).optional(),
    idempotency_key: z.string(),
    fingerprint,
    command: jsonObject.meta({
      description: 'The canonical command: what the fingerprint covers.',
    }),
    result: jsonObject.nullable(),
    error: why.nullable(),
    agent_id: z.string(),
    agent_run: z.string().nullable(),
    connection: z.string(),
    provider: z.strictObject({
      adapter: z.string(),
      token: z.string(),
      reference: z.string().nullable(),
    }),
    approval: approval.nullable(),
    attempts: z.array(attempt),
    last_error: why.nullable(),
    possible_duplicate_of: operationId.nullable(),
    conflicts_with: operationId.nullable(),
    unknown_since: time.nullable(),
    created_at: time,
    updated_at: time,
    settled_at: time.nullable(),
    expired_at: time.optional().meta({
      description:
        'When retention took free text and personal members; the command is what is left of it.',
    }),
    erased_at: time.optional().meta({ description: 'When an operator had the same taken.' }),
  })
  .meta({ id: 'Operation', description: 'One requested action and what became of it.' });

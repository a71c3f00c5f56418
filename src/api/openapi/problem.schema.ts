// The body of every refusal (RFC 9457), from the one catalogue.
import { z } from 'zod';
import { PROBLEMS, type ProblemCode } from '../../domain/error-catalogue.ts';
import { operationId } from './members.ts';

const codes = Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]];

export const problemCode = z.enum(codes).meta({ id: 'ProblemCode' });

export const problem = z
  .strictObject({
    type: z.string().meta({ description: 'A reference that names the code.' }),
    code: problemCode,
    title: z.string(),
    status: z.int().min(400).max(599),
    detail: z.string().meta({ description: 'One sentence on this occurrence.' }),
    next_action: z.enum([
      'poll',
      'await_approval',
      'retry_same_key',
      'change_request',
      'contact_operator',
      'do_not_retry',
      'none',
    ]),
    retry: z.enum(['wait', 'ask_human', 'never']),
    safe_to_use_new_key: z.literal(false).meta({
      description: 'Always false: only the state of an operation can say that nothing was done.',
    }),
    operation_id: operationId.optional(),
    operation_status: z.string().optional(),
    approval_id: z.string().optional(),
    pointer: z
      .string()
      .optional()
      .meta({ description: 'Where in a body that is not strict JSON.' }),
    parameter: z.string().optional().meta({ description: 'Query parameter or header.' }),
    errors: z
      .array(z.strictObject({ pointer: z.string(), detail: z.string() }))
      .optional()
      .meta({ description: 'What is wrong with which member; pointers are RFC 6901.' }),
    retry_after_seconds: z.number().optional(),
  })
  .meta({ id: 'Problem', description: 'A refusal (RFC 9457).' });

// What submitting and reading an operation take and answer.
import { z } from 'zod';
import { contracts, type Answer } from '../openapi/contract.ts';
import { operationIdInPath } from '../openapi/members.ts';
import { operation } from '../openapi/operation.schema.ts';
import { readHeaders, submitHeaders } from '../openapi/submission.schema.ts';

const settled: Answer = {
  description:
    'Settled: `replayed` with the stored bytes, `created` where the caller was held until then, `reused` where another key asked for it.',
  schema: operation,
  headers: ['Operation-Disposition', 'Location', 'Idempotent-Replayed'],
};

const open: Answer = {
  description: 'Accepted and not settled, or the same key again while it is not.',
  schema: operation,
  headers: ['Operation-Disposition', 'Location', 'Retry-After'],
};

export const operationsContracts = contracts({
  submit: {
    method: 'post',
    path: '/agent/operations/{kind}',
    operationId: 'submit',
    tag: 'Operations',
    summary: 'Submit',
    description:
      'One key is one operation. Repeat with the same key and the same body until the answer is settled; 409 never means that it is still running.',
    roles: ['agent'],
    query: z.strictObject({}),
    headers: submitHeaders,
    body: 'command',
    answers: { 200: settled, 202: open },
    problems: [
      'idempotency_key_missing',
      'idempotency_key_invalid',
      'policy_denied',
      'not_found',
      'unknown_kind',
      'unknown_key',
      'fingerprint_mismatch',
      'key_known',
      'business_duplicate',
      'target_busy',
      'not_refundable',
      'precondition_failed',
      'invalid_command',
    ],
  },
  read: {
    method: 'get',
    path: '/agent/operations/{operation_id}',
    operationId: 'readOperation',
    tag: 'Operations',
    summary: 'State of an operation',
    description:
      'With `Prefer: wait=S` it is held until the operation is settled or waits for a person.',
    roles: ['agent', 'approver', 'operator'],
    pathParameters: operationIdInPath,
    query: z.strictObject({}),
    headers: readHeaders,
    answers: {
      200: {
        description: 'The operation. `Retry-After` says when it is worth asking again.',
        schema: operation,
        headers: ['Retry-After'],
      },
    },
    // The name of a kind is no operation id; its path takes POST.
    problems: ['not_found', 'method_not_allowed'],
  },
});

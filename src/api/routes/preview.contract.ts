// What a preview takes and answers.
import { z } from 'zod';
import { VERDICTS } from '../../domain/policy.ts';
import { contracts } from '../openapi/contract.ts';
import { fingerprint, operationId } from '../openapi/members.ts';
import { operationState } from '../openapi/operation.schema.ts';
import { previewHeaders } from '../openapi/submission.schema.ts';
import { problemCode } from '../openapi/problem.schema.ts';

const conflict = z.strictObject({
  code: problemCode,
  detail: z.string(),
  operation_id: operationId.optional(),
  operation_status: operationState.optional(),
});

const names = z.array(z.string()).readonly();

const policyDecision = z
  .strictObject({
    policy_version: z
      .string()
      .meta({ description: 'SHA-256 of the policy file that is in force.' }),
    verdict: z.enum(VERDICTS),
    rules: names.meta({
      description: 'Names of the rules and ceilings that decided; none where no rule speaks of it.',
    }),
    reasons: names,
    approval: z
      .strictObject({
        quorum: z.int().min(1),
        ttl_ms: z.int().min(1),
        approvers: z
          .strictObject({ principals: names, owners: names })
          .nullable()
          .meta({ description: 'Null: every approver of the account.' }),
        own_requests: z.boolean(),
      })
      .nullable(),
  })
  .meta({ id: 'PolicyDecision', description: 'What the policy says of the operation.' });

const preview = z
  .strictObject({
    kind: z.string(),
    kind_version: z.int().min(1),
    command: z.record(z.string(), z.unknown()).meta({ description: 'The canonical command.' }),
    fingerprint,
    business_key: z
      .array(z.string())
      .nullable()
      .meta({ description: 'What is unique across keys; null where nothing is.' }),
    policy: policyDecision,
    would: z.enum(['create', 'replay', 'reuse', 'refuse']).meta({
      description:
        'What a submit would come to now. `replay`: the key names this request already. `reuse`: the key would stand for the operation in `existing`.',
    }),
    existing: z.strictObject({ operation_id: operationId, status: operationState }).nullable(),
    conflicts: z
      .array(conflict)
      .meta({ description: 'In the order of a submit; the first would be its refusal.' }),
  })
  .meta({ id: 'Preview' });

export type Preview = z.output<typeof preview>;

export const previewContracts = contracts({
  preview: {
    method: 'post',
    path: '/agent/operations/{kind}/preview',
    operationId: 'preview',
    tag: 'Operations',
    summary: 'What a submit would come to now',
    description:
      'Reads what a submit reads and claims nothing; a key may be sent and is not needed. It speaks of this moment: only a submit decides.',
    roles: ['agent'],
    query: z.strictObject({}),
    headers: previewHeaders,
    body: 'command',
    answers: { 200: { description: 'The preview.', schema: preview } },
    problems: ['idempotency_key_invalid', 'unknown_kind', 'invalid_command'],
  },
});

// What canceling, looking up, resolving, releasing and erasing take and answer.
import { z } from 'zod';
import { contracts } from '../openapi/contract.ts';
import { identifierText, operationIdInPath, time } from '../openapi/members.ts';
import { operation } from '../openapi/operation.schema.ts';

/** Enough for a provider's whole statement, little enough to be read. */
const LONGEST_EVIDENCE = 10_000;

const evidence = z
  .string()
  .max(LONGEST_EVIDENCE)
  .refine((text) => text.trim() !== '', 'say what was seen, and where')
  .meta({ description: 'What was seen, and where. Kept; the audit holds a salted hash of it.' });

export const resolveBody = z.strictObject({
  outcome: z.enum(['succeeded', 'failed']),
  evidence,
  provider_reference: identifierText
    .meta({ description: "The provider's id of the effect, where it is known." })
    .optional(),
  external_check: identifierText
    .meta({
      description:
        'The check that was made outside, by name. Needed for `failed` where the adapter has no lookup.',
    })
    .optional(),
});

export const releaseBody = z.strictObject({ evidence });

const none = z.strictObject({});

export const operatorOperationContracts = contracts({
  cancel: {
    method: 'post',
    path: '/agent/operations/{operation_id}/cancel',
    operationId: 'cancelOperation',
    tag: 'Operations',
    summary: 'Cancel what was not sent yet',
    description: 'An agent cancels what it submitted itself, an operator what its account has.',
    roles: ['agent', 'operator'],
    pathParameters: operationIdInPath,
    query: none,
    answers: { 200: { description: 'It is canceled, now or before.', schema: operation } },
    problems: ['not_found', 'too_late_to_cancel'],
  },
  reconcile: {
    method: 'post',
    path: '/operator/operations/{operation_id}/reconcile',
    operationId: 'reconcileOperation',
    tag: 'Operators',
    summary: 'Ask the provider now',
    roles: ['operator'],
    pathParameters: operationIdInPath,
    query: none,
    answers: {
      202: {
        description: 'It will be asked; the operation as it stands.',
        schema: operation,
        headers: ['Location', 'Retry-After'],
      },
    },
    problems: ['not_found', 'wrong_state'],
  },
  resolve: {
    method: 'post',
    path: '/operator/operations/{operation_id}/resolve',
    operationId: 'resolveOperation',
    tag: 'Operators',
    summary: 'Settle by a person what machines could not',
    description:
      'Works without the engine. Where the operation needed approval, two people of different owners have to say the same outcome and the same reference; the first call is stored. `failed` needs a lookup of the last 10 minutes that shows nothing done or pending and was made when the last write could no longer act.',
    roles: ['operator'],
    pathParameters: operationIdInPath,
    query: none,
    body: {
      schema: resolveBody,
      example: { outcome: 'succeeded', evidence: 'Statement of 2 May, line 14: captured.' },
    },
    answers: {
      200: { description: 'It is settled.', schema: operation },
      202: {
        description: 'Stored; somebody of another owner has to say the same.',
        schema: operation.extend({
          resolution: z.strictObject({
            status: z.literal('awaiting_second'),
            outcome: z.enum(['succeeded', 'failed']),
            provider_reference: z.string().nullable(),
            principal_id: z.string(),
            at: time,
          }),
        }),
        headers: ['Location'],
      },
    },
    problems: [
      'invalid_command',
      'not_found',
      'own_request',
      'wrong_state',
      'not_resolvable',
      'lookup_required',
      'second_person_required',
    ],
  },
  release: {
    method: 'post',
    path: '/operator/operations/{operation_id}/release',
    operationId: 'releaseBusinessKey',
    tag: 'Operators',
    summary: 'Give the business key of a succeeded operation back',
    description: 'Afterwards another key may claim it. Repeating it changes nothing.',
    roles: ['operator'],
    pathParameters: operationIdInPath,
    query: none,
    body: { schema: releaseBody, example: { evidence: 'Charged back on 3 May; to be paid anew.' } },
    answers: { 200: { description: 'It is free, now or before.', schema: operation } },
    problems: ['invalid_command', 'not_found', 'own_request', 'wrong_state'],
  },
  erase: {
    method: 'post',
    path: '/operator/operations/{operation_id}/erase',
    operationId: 'erasePersonalData',
    tag: 'Operators',
    summary: 'Erase the personal data of a settled operation',
    description:
      'Does now what retention does later: free text, personal members, the bytes that were sent and what people wrote go. Key, fingerprint, business key, state, token, reference and amounts stay, so a repeat of the key is still answered with this operation. Repeating it changes nothing.',
    roles: ['operator'],
    pathParameters: operationIdInPath,
    query: none,
    answers: { 200: { description: 'It is erased, now or before.', schema: operation } },
    problems: ['not_found', 'wrong_state'],
  },
});

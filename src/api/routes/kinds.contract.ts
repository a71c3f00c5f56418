// What the list of kinds answers.
import { z } from 'zod';
import { contracts } from '../openapi/contract.ts';

const card = z
  .strictObject({
    token: z.enum(['native', 'client_id', 'natural_key', 'marker', 'none']),
    retention_ms: z.number(),
    max_processing_ms: z.number().nullable(),
    visibility_lag_ms: z.number(),
    absence_is_authoritative: z.boolean(),
    lookup: z.enum(['token', 'reference', 'natural_key', 'marker', 'none']),
    reversible: z.boolean(),
  })
  .meta({
    id: 'CapabilityCard',
    description: 'What the provider behind the connection promises about repeats and lookups.',
  });

const kind = z.strictObject({
  kind: z.string(),
  version: z.int().min(1),
  summary: z.string(),
  policy_summary: z.string().meta({
    description: 'What the policy in force says of the kind to the caller, in sentences.',
  }),
  on_duplicate: z
    .enum(['refuse', 'reuse'])
    .meta({ description: 'What another key for the same business key comes to.' }),
  acts_on: z
    .string()
    .nullable()
    .meta({ description: 'Kind of the operation that this one acts on.' }),
  granted: z.boolean().meta({ description: 'Whether the caller may submit it.' }),
  schema: z
    .record(z.string(), z.unknown())
    .meta({ description: 'JSON Schema (2020-12) of the body.' }),
  example: z.record(z.string(), z.unknown()),
  connection: z
    .strictObject({ name: z.string(), adapter: z.string(), capability_card: card })
    .nullable()
    .meta({ description: 'What serves the kind for the account of the caller.' }),
});

export type Kind = z.output<typeof kind>;

export const kindsContracts = contracts({
  kinds: {
    method: 'get',
    path: '/kinds',
    operationId: 'listKinds',
    tag: 'Kinds',
    summary: 'Every kind of operation, with its schema, its provider and its policy',
    roles: ['agent', 'approver', 'operator', 'auditor', 'admin'],
    query: z.strictObject({}),
    answers: {
      200: { description: 'All kinds.', schema: z.strictObject({ kinds: z.array(kind) }) },
    },
    problems: [],
  },
});

// What the audit chain answers: its signed head, its entries as they were hashed, and the evidence of one operation.
import { z } from 'zod';
import { contracts } from '../openapi/contract.ts';
import { fingerprint, operationId, operationIdInPath, time } from '../openapi/members.ts';
import { operationState } from '../openapi/operation.schema.ts';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const sequence = z.int().min(1);

const head = z
  .strictObject({
    v: z.literal(1),
    account_id: z.string(),
    sequence: sequence.meta({ description: 'Of the last entry that the head speaks for.' }),
    hash: sha256.meta({ description: 'Of that entry, and by it of all before.' }),
    count: sequence.meta({ description: 'Entries that the chain has had up to here.' }),
    first: sequence.meta({ description: 'The first entry that was sealed with this head.' }),
    batch: sha256.meta({ description: 'Over the hashes of the entries from there on.' }),
    sealed_at: time,
    kid: z.string().meta({ description: 'Names the public key.' }),
    signature: z.string().meta({ description: 'Ed25519, base64url; over what: docs/audit.md.' }),
  })
  .meta({ id: 'AuditHead' });

const checkpoint = z.strictObject({
  v: z.literal(1),
  account_id: z.string(),
  through_sequence: sequence,
  hash: sha256,
  removed_at: time,
  kid: z.string(),
  signature: z.string(),
});

const nullable = z.string().nullable();
const anyObject = z.record(z.string(), z.unknown());

const facts = z.strictObject({
  operation_id: operationId,
  account_id: z.string(),
  kind: z.string(),
  kind_version: z.int(),
  idempotency_key: z.string(),
  fingerprint,
  fingerprint_version: z.int(),
  status: operationState,
  agent_id: z.string(),
  agent_run: nullable,
  connection: z.string(),
  adapter: z.string(),
  provider_token: z.string(),
  plan: anyObject.meta({
    description: 'Numbers and target as they were frozen; part of what approvers sign.',
  }),
  provider_reference: nullable,
  response_status: z.int().nullable(),
  response_sha256: sha256.nullable(),
  resolved_by: nullable,
  created_at: time,
  updated_at: time,
  settled_at: time.nullable(),
});

const proof = z.strictObject({
  hashes: z.array(sha256).meta({ description: 'Of all entries that were sealed with the head.' }),
  head,
});

const bundle = z
  .strictObject({
    v: z.literal(1),
    operation: facts,
    policy_decision: z.unknown().meta({ description: 'What the policy said at the claim.' }),
    approvals: z.array(anyObject).meta({
      description: 'What was asked for and shown, and each signed decision.',
    }),
    attempts: z.array(anyObject),
    statements: z.array(anyObject).meta({
      description: 'Answers, lookups and events of the provider, and what people decided.',
    }),
    entries: z.array(z.string()).meta({ description: 'Audit entries as lines of an export.' }),
    proofs: z.array(proof).meta({ description: 'That the entries are in signed heads.' }),
    unsealed: z.int().meta({
      description: 'Events that are not in the chain yet, so that nothing proves them: ask again.',
    }),
    checkpoint: checkpoint.nullable(),
    consistent: z.boolean().meta({
      description:
        'True where row, command, signed decisions and audit say the same. Whoever has the bundle checks that anew.',
    }),
    disagreements: z.array(z.string()),
  })
  .meta({ id: 'EvidenceBundle' });

/** Lines of one answer. */
const LARGEST_EXPORT_PAGE = 5_000;

const wholeNumber = (pattern: RegExp, jsonSchema: object) =>
  z
    .string()
    .regex(pattern)
    .transform(Number)
    .meta({
      override: ({ jsonSchema: given }: { jsonSchema: Record<string, unknown> }) => {
        delete given['pattern'];
        Object.assign(given, { type: 'integer', ...jsonSchema });
      },
    });

export const exportQuery = z.strictObject({
  account_id: z
    .string()
    .min(1)
    .max(64)
    .meta({ description: "Must be the credential's own; for callers who want that checked." })
    .optional(),
  after: wholeNumber(/^(0|[1-9]\d{0,14})$/, { minimum: 0 })
    .default(0)
    .meta({ description: 'The last sequence that is had already.' }),
  limit: wholeNumber(/^[1-9]\d{0,3}$/, { minimum: 1, maximum: LARGEST_EXPORT_PAGE })
    .refine((many) => many <= LARGEST_EXPORT_PAGE, `at most ${LARGEST_EXPORT_PAGE}`)
    .default(LARGEST_EXPORT_PAGE),
});

const none = z.strictObject({});

export const auditChainContracts = contracts({
  head: {
    method: 'get',
    path: '/audit/head',
    operationId: 'readAuditHead',
    tag: 'Audit',
    summary: 'The newest signed head of the chain of the account',
    description: '404 until the first event is sealed, normally a second after it.',
    roles: ['auditor', 'operator'],
    query: none,
    answers: { 200: { description: 'The head.', schema: head } },
    problems: ['not_found'],
  },
  export: {
    method: 'get',
    path: '/audit/export',
    operationId: 'exportAudit',
    tag: 'Audit',
    summary: 'Sealed entries of the account as they were hashed',
    description:
      'One entry a line with its hash as the last member, oldest first. The first line is a signed checkpoint where retention has removed what was before. Ask again with `after` until nothing comes.',
    roles: ['auditor', 'operator'],
    query: exportQuery,
    answers: { 200: { description: 'JSON Lines.', mediaType: 'application/jsonl' } },
    problems: ['not_found'],
  },
  evidence: {
    method: 'get',
    path: '/agent/operations/{operation_id}/evidence',
    operationId: 'readEvidence',
    tag: 'Audit',
    summary: 'Everything that proves what became of an operation',
    description:
      'Fingerprint, policy, approvals with their signed decisions, attempts, lookups, outcome, and the audit entries with proof that they are in signed heads. Can be checked without this system: `holdfast evidence verify`. Holds no command and nobody’s words.',
    roles: ['auditor', 'operator'],
    pathParameters: operationIdInPath,
    query: none,
    answers: { 200: { description: 'The bundle.', schema: bundle } },
    problems: ['not_found'],
  },
});

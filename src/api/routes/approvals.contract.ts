// What approvers read and say.
import { z } from 'zod';
import { contracts } from '../openapi/contract.ts';
import {
  approvalId,
  cursor,
  fingerprint,
  kindName,
  limit,
  nextCursor,
  operationId,
  time,
} from '../openapi/members.ts';
import { operationState } from '../openapi/operation.schema.ts';

const status = z.enum(['pending', 'approved', 'rejected', 'expired', 'void']);

export const approvalsQuery = z.strictObject({
  status: status
    .default('pending')
    .meta({ description: 'Without it: what waits for a decision now.' }),
  limit,
  cursor,
});

export type ApprovalsQuery = z.output<typeof approvalsQuery>;

/** Room for a reason, too little for a document. */
const LONGEST_COMMENT = 1_000;

export const decisionBody = z.strictObject({
  fingerprint: fingerprint.meta({
    description: 'The one that stands on the card which the person has read.',
  }),
  comment: z
    .string()
    .max(LONGEST_COMMENT)
    .meta({ description: 'Shown to people beside the decision; not in the audit.' })
    .optional(),
});

/** Text to be read; see the description of the card. */
const shown = z.string();

const values = z.array(
  z.strictObject({
    name: shown.meta({ description: 'Path of the value, such as `items[0].sku`.' }),
    value: shown,
    marked: z.boolean().meta({ description: 'True where something of it is written out.' }),
  }),
);

const card = z
  .strictObject({
    title: shown,
    operation_id: operationId,
    kind: kindName,
    account_id: z.string(),
    connection: shown,
    parameters: values,
    money: z.strictObject({ amount: z.string(), currency: z.string() }).nullable(),
    target: shown.nullable(),
    consequence: shown,
    reversibility: shown,
    requester: z.strictObject({
      agent_id: shown,
      owner: shown,
      agent_run: shown.nullable(),
    }),
    reasons: z.array(shown).meta({ description: 'Why a person must decide.' }),
    possible_duplicate_of: operationId.nullable(),
    preconditions: values.nullable().meta({
      description: 'What the provider said of the target when this was asked for.',
    }),
    preconditions_read_at: time.nullable(),
    difference: values.nullable().meta({ description: 'What has changed since the round before.' }),
  })
  .meta({
    id: 'ApprovalCard',
    description:
      'What will be done, in words and values. Characters that are not seen, that change the order of what is seen, or that read as others are written out as code points, such as `⟨U+202E⟩`.',
  });

const vote = z.strictObject({
  owner: shown,
  principal_id: shown,
  decision: z.enum(['approved', 'rejected']),
  decided_at: time,
  comment: shown.nullable(),
});

const approval = z
  .strictObject({
    approval_id: approvalId,
    operation_id: operationId,
    operation_status: operationState,
    fingerprint,
    status,
    round: z.int().min(1),
    created_at: time,
    expires_at: time,
    decided_at: time.nullable(),
    quorum: z
      .int()
      .min(1)
      .meta({ description: 'So many people with different owners must agree.' }),
    votes: z.array(vote),
    approvers: z
      .strictObject({ principals: z.array(shown), owners: z.array(shown) })
      .nullable()
      .meta({ description: 'Who may decide; null: every approver of the account.' }),
    own_requests: z
      .boolean()
      .meta({ description: "True where the submitter's own owner may decide as well." }),
    policy_version: z.string().nullable(),
    card,
    command: z
      .record(z.string(), z.unknown())
      .meta({ description: 'The canonical command, raw: what the fingerprint covers.' }),
  })
  .meta({ id: 'Approval', description: 'A request to people, and what they said to it.' });

export type ApprovalView = z.output<typeof approval>;

const approvalIdInPath = z.object({ approval_id: approvalId });

const decision = {
  method: 'post',
  tag: 'Approvals',
  roles: ['approver'],
  pathParameters: approvalIdInPath,
  query: z.strictObject({}),
  body: {
    schema: decisionBody,
    example: { fingerprint: 'ab'.repeat(32), comment: 'Invoice checked.' },
  },
  answers: {
    200: {
      description:
        'The approval with the decision in it; also where the same person had said the same before.',
      schema: approval,
    },
  },
  problems: [
    'invalid_command',
    'not_found',
    'own_request',
    'approval_fingerprint_mismatch',
    'approval_decided',
    'approval_expired',
    'second_person_required',
    'wrong_state',
  ],
} as const;

export const approvalContracts = contracts({
  list: {
    method: 'get',
    path: '/approvals',
    operationId: 'listApprovals',
    tag: 'Approvals',
    summary: 'List approvals, newest first',
    roles: ['approver'],
    query: approvalsQuery,
    answers: {
      200: {
        description: 'One page.',
        schema: z.strictObject({ approvals: z.array(approval), next_cursor: nextCursor }),
      },
    },
    problems: [],
  },
  show: {
    method: 'get',
    path: '/approvals/{approval_id}',
    operationId: 'getApproval',
    tag: 'Approvals',
    summary: 'Read one approval with its card',
    roles: ['approver'],
    pathParameters: approvalIdInPath,
    query: z.strictObject({}),
    answers: { 200: { description: 'The approval.', schema: approval } },
    problems: ['not_found'],
  },
  approve: {
    ...decision,
    path: '/approvals/{approval_id}/approve',
    operationId: 'approveOperation',
    summary: 'Agree that the operation is carried out',
    description:
      'Bound to the fingerprint, used once, and only before `expires_at`. Whoever belongs to the owner of the submitter is refused, unless the policy allows it.',
  },
  reject: {
    ...decision,
    path: '/approvals/{approval_id}/reject',
    operationId: 'rejectOperation',
    summary: 'End the operation without sending anything',
    description: 'One person is enough, however many would have to agree.',
  },
});

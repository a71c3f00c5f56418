// What administering API keys takes and answers.
import { z } from 'zod';
import { contracts } from '../openapi/contract.ts';
import { time } from '../openapi/members.ts';
import { principalInPath } from './principals.contract.ts';

/** An hour: long enough to bring a secret to where it is used, short enough that an old one isn't forgotten. */
const USUAL_OVERLAP_S = 3_600;
const LONGEST_OVERLAP_S = 30 * 86_400;

/** Postgres knows fewer offsets and more years than RFC 3339. */
const LATEST = Date.parse('9000-01-01T00:00:00Z');

const expiry = z.iso
  .datetime({ offset: true })
  .refine((text) => Date.parse(text) > 0 && Date.parse(text) < LATEST, 'is not a usable time')
  .transform((text) => new Date(text).toISOString())
  .meta({ description: 'RFC 3339 with offset, in the future.', example: '2030-01-01T00:00:00Z' });

export const keyBody = z.strictObject({
  expires_at: expiry.optional().meta({ description: 'Without it the key does not expire.' }),
});

export const rotateBody = z.strictObject({
  overlap_seconds: z
    .int()
    .min(0)
    .max(LONGEST_OVERLAP_S)
    .default(USUAL_OVERLAP_S)
    .meta({ description: 'How long the old key works beside the new one; 0 ends it now.' }),
  expires_at: expiry.optional().meta({
    description: 'Of the new key; without it, it lives as long as the old one was made for.',
  }),
});

const key = z.strictObject({
  key_id: z.string(),
  principal_id: z.string(),
  created_at: time,
  expires_at: time.nullable(),
  revoked_at: time.nullable(),
  last_used_at: time.nullable().meta({ description: 'To the minute.' }),
});

export type KeyShown = z.output<typeof key>;

const newKey = z.strictObject({
  ...key.shape,
  secret: z.string().meta({ description: 'Shown this one time; nobody can find it out again.' }),
});

const none = z.strictObject({});
const keyInPath = z.object({ key_id: z.string() });
const tag = 'Administration';

export const apiKeyContracts = contracts({
  create: {
    method: 'post',
    path: '/operator/principals/{principal_id}/keys',
    operationId: 'createKey',
    tag,
    summary: 'Make a key for a principal',
    description: 'Not for those who sign in by the identity provider.',
    roles: ['admin'],
    pathParameters: principalInPath,
    query: none,
    body: { schema: keyBody, example: { expires_at: '2030-01-01T00:00:00Z' } },
    answers: { 201: { description: 'The key with its secret.', schema: newKey } },
    problems: ['not_found', 'wrong_state', 'invalid_command'],
  },
  list: {
    method: 'get',
    path: '/operator/principals/{principal_id}/keys',
    operationId: 'listKeys',
    tag,
    summary: 'The keys of a principal',
    description: 'Oldest first, those that have ended too. Neither secrets nor their hashes.',
    roles: ['admin'],
    pathParameters: principalInPath,
    query: none,
    answers: {
      200: { description: 'All of them.', schema: z.strictObject({ keys: z.array(key) }) },
    },
    problems: ['not_found'],
  },
  rotate: {
    method: 'post',
    path: '/operator/keys/{key_id}/rotate',
    operationId: 'rotateKey',
    tag,
    summary: 'Put a new key in the place of one in use',
    roles: ['admin'],
    pathParameters: keyInPath,
    query: none,
    body: { schema: rotateBody, example: { overlap_seconds: USUAL_OVERLAP_S } },
    answers: { 201: { description: 'The new key with its secret.', schema: newKey } },
    problems: ['not_found', 'wrong_state', 'invalid_command'],
  },
  revoke: {
    method: 'post',
    path: '/operator/keys/{key_id}/revoke',
    operationId: 'revokeKey',
    tag,
    summary: 'End a key now',
    description: 'Repeating it changes nothing.',
    roles: ['admin'],
    pathParameters: keyInPath,
    query: none,
    answers: { 200: { description: 'The key.', schema: key } },
    problems: ['not_found', 'wrong_state'],
  },
});

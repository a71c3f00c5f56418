// Headers of a submit, as they are parsed by parse-submission; the patterns say the same for documents.
import { z } from 'zod';

const BARE = String.raw`[0-9A-Za-z][!#-&(-+\-./0-:<-\[\]-~]{0,254}`;
const INNER = String.raw`[!#-\[\]-~]|\\["\\]`;
const QUOTED = `"(?:${INNER})(?:(?: |${INNER}){0,253}(?:${INNER}))?"`;

const idempotencyKey = z.string().meta({
  description:
    'One random UUID per intended action, kept and sent again on every retry. The quoted string of draft-ietf-httpapi-idempotency-key-header-07 and the bare form name the same key; 255 characters at most, case-sensitive. No names, dates or personal data: keys are seen in logs and at providers.',
  example: '"8e03978e-40d5-43dd-bc93-6894a57f9324"',
  override: { pattern: `^(?:${BARE}|${QUOTED})$` },
});

const tracing = {
  'Agent-Run-Id': z
    .string()
    .regex(/^[\x21-\x7e]{1,128}$/)
    .meta({ description: 'Names the run of the agent; it is stored and audited.' })
    .optional(),
  traceparent: z
    .string()
    .meta({ description: 'W3C Trace Context; one that is not valid is ignored.' })
    .optional(),
};

const mode = z
  .enum(['first', 'retry', 'any'])
  .meta({
    description:
      'What the caller knows of earlier sends. `retry` with an unknown key is refused, and so is `first` with a known one. Default `any`.',
  })
  .optional();

const prefer = z
  .string()
  .meta({
    description:
      '`wait=S` (RFC 7240): hold the answer up to S seconds, at most 45, until the operation is settled or waits for a person.',
    example: 'wait=20',
  })
  .optional();

export const submitHeaders = z.object({
  'Idempotency-Key': idempotencyKey,
  'Idempotency-Mode': mode,
  Prefer: prefer,
  ...tracing,
});

export const previewHeaders = z.object({
  'Idempotency-Key': idempotencyKey.optional(),
  'Idempotency-Mode': mode,
  ...tracing,
});

export const readHeaders = z.object({ Prefer: prefer });

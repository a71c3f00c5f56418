// Parameters and members that several routes share, with the checks that the routes make.
import { z } from 'zod';
import { idempotencyKeyFault } from '../../domain/idempotency-key.ts';
import { parseIdentifier } from '../../domain/text.ts';
import { KINDS } from '../../operations/registry.ts';

/** A time as this API shows it. */
export const time = z.iso.datetime().meta({ example: '2026-01-02T03:04:05.678Z' });

export const fingerprint = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ description: 'SHA-256 of what was asked for; equal requests have equal ones.' });

export const operationId = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,100}$/)
  .meta({
    description: 'Id of an operation.',
    example: 'op_0b7e3f2a-6c1d-4a5e-9f80-1234567890ab',
  });

export const approvalId = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,100}$/)
  .meta({ description: 'Id of an approval.', example: 'apr_0b7e3f2a-6c1d-4a5e-9f80-1234567890ab' });

/** True where a text can be an id of ours at all; others are not looked up. */
export function isId(text: string): boolean {
  return operationId.safeParse(text).success;
}

export const operationIdInPath = z.object({ operation_id: operationId });

/** Most entries of a page. */
const LARGEST_PAGE = 100;
const USUAL_PAGE = 50;

export const limit = z
  .string()
  .regex(/^[1-9]\d{0,2}$/, `send a whole number from 1 to ${LARGEST_PAGE}`)
  .transform(Number)
  .refine((many) => many <= LARGEST_PAGE, `at most ${LARGEST_PAGE}`)
  .default(USUAL_PAGE)
  .meta({
    description: 'Most entries of the answer.',
    override: ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
      delete jsonSchema['pattern'];
      Object.assign(jsonSchema, {
        type: 'integer',
        minimum: 1,
        maximum: LARGEST_PAGE,
        default: USUAL_PAGE,
      });
    },
  });

export const cursor = z
  .string()
  .min(1)
  .max(1_000)
  .regex(/^[\w-]+$/)
  .meta({ description: 'The `next_cursor` of the page before; nothing else is accepted.' })
  .optional();

export const nextCursor = z
  .string()
  .nullable()
  .meta({ description: 'Send it as `cursor` for the next page; null on the last page.' });

/** An idempotency key as a plain text, not as the header writes it. */
export const keyText = z
  .string()
  .min(1)
  .max(255)
  .superRefine((key, context) => {
    const fault = idempotencyKeyFault(key);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
  })
  .meta({ override: { pattern: String.raw`^[!-~](?:[ -~]*[!-~])?$` } });

export const identifierText = z.string().transform((text, context) => {
  const parsed = parseIdentifier(text);
  if (parsed.ok) return parsed.value;
  context.addIssue({ code: 'custom', message: parsed.detail });
  return z.NEVER;
});

export const kindName = z.enum(KINDS as [string, ...string[]]).meta({ id: 'Kind' });

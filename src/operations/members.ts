// Members that several kinds share, each with the refusal that tells a client how to mend it.
import { z } from 'zod';
import { parseIdentifier } from '../domain/text.ts';

/** A reference such as a customer or invoice: NFC, trimmed, bounded, without characters that nobody sees. */
export const identifier = z.string().transform((text, context) => {
  const parsed = parseIdentifier(text);
  if (parsed.ok) return parsed.value;
  context.addIssue({ code: 'custom', message: parsed.detail });
  return z.NEVER;
});

/** An amount is text because JSON numbers are read as doubles, and some clients write 250.00 as 250. */
export const amount = z.string({
  error: (issue) =>
    typeof issue.input === 'number'
      ? 'send "250.00" as a string'
      : 'send a decimal such as "250.00" as a string',
});

/** Kept byte for byte, since it is somebody's words; bounded so that it fits what providers take. */
export const freeText = z.string().max(1_000);

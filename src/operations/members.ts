// Members that several kinds share, each with the refusal that tells a client how to mend it.
import { z } from 'zod';
import { formatAmount, parseMoney, type Money } from '../domain/money.ts';
import { parseIdentifier } from '../domain/text.ts';

/** A reference such as a customer or invoice: NFC, trimmed, bounded, without characters that nobody sees. */
export const identifier = z
  .string()
  .min(1)
  .transform((text, context) => {
    const parsed = parseIdentifier(text);
    if (parsed.ok) return parsed.value;
    context.addIssue({ code: 'custom', message: parsed.detail });
    return z.NEVER;
  });

/** An amount is text because JSON numbers are read as doubles, and some clients write 250.00 as 250. */
export const amount = z
  .string({
    error: (issue) =>
      typeof issue.input === 'number'
        ? 'send "250.00" as a string'
        : 'send a decimal such as "250.00" as a string',
  })
  .regex(/^(0|[1-9][0-9]*)(\.[0-9]+)?$/, 'send a plain decimal such as "250.00"')
  .meta({ description: 'Decimal text in the precision of the currency.', example: '250.00' });

export const currency = z.string().meta({
  description: 'ISO 4217 code; there is no default.',
  example: 'USD',
  pattern: '^[A-Za-z]{3}$',
});

/** Kept byte for byte, since it is somebody's words; bounded so that it fits what providers take. */
export const freeText = z.string().max(1_000);

/** The longest text that people write into a ticket. */
export const longText = z.string().max(20_000);

/** Amount and currency in their one spelling; faults go to the context with their place. */
export function canonicalMoney<T extends { amount: string; currency: string }>(
  input: T,
  context: z.RefinementCtx,
): T {
  const parsed = parseMoney(input.amount, input.currency);
  if (!parsed.ok) {
    context.addIssue({ code: 'custom', path: [parsed.pointer.slice(1)], message: parsed.detail });
    return z.NEVER;
  }
  const { minor, digits, currency: code } = parsed.money;
  return { ...input, amount: formatAmount(minor, digits), currency: code };
}

/** The money of a command that its schema has accepted. */
export function moneyOf(command: { readonly amount: string; readonly currency: string }): Money {
  const parsed = parseMoney(command.amount, command.currency);
  if (!parsed.ok) throw new Error(`a validated amount: ${parsed.detail}`);
  return parsed.money;
}

/** The object without members that are undefined: absent is the only way of saying nothing. */
export function withoutAbsent<T extends object>(
  value: T,
): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

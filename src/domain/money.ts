// An amount of one currency, exact: read from a decimal text in the currency's own precision, kept as minor units.
import { MINOR_UNIT_DIGITS } from './currencies.ts';

/** `minor` is a text of digits because JSON and Temporal's payloads carry no whole number of any size. */
export interface Money {
  readonly currency: string;
  readonly minor: string;
  /** Digits of the currency's minor unit. */
  readonly digits: number;
}

/** The money, or the member that can't be used and a sentence on it. */
export type MoneyResult =
  | { readonly ok: true; readonly money: Money }
  | { readonly ok: false; readonly pointer: '/amount' | '/currency'; readonly detail: string };

/**
 * Most digits of an amount in minor units. 999,999,999,999,999 is beyond any payment in any currency, below 2^53, so that a
 * provider's or reader's double holds it exactly, and fits a `bigint` column even when thousands are summed.
 */
export const MAX_MINOR_DIGITS = 15;

/** No sign, exponent, separator, blank or leading zero: one reading only, for people of every country and for parsers. */
const AMOUNT = /^(0|[1-9][0-9]*)(?:\.([0-9]+))?$/;
const ALPHABETIC_CODE = /^[A-Za-z]{3}$/;

/** Reads an amount as it stands in a command; `10`, `10.0` and `10.00` are one amount of a currency with two digits. */
export function parseMoney(amount: string, currency: string): MoneyResult {
  const code = normaliseCurrency(currency);
  const digits = code === undefined ? undefined : MINOR_UNIT_DIGITS.get(code);
  if (code === undefined || digits === undefined) {
    return refuse('/currency', 'not an ISO 4217 code of a currency that can be paid in');
  }
  const [, whole, fraction = ''] = AMOUNT.exec(amount) ?? [];
  if (whole === undefined) return refuse('/amount', 'send a plain decimal such as "250.00"');
  // Zeros too: in many countries "1.000" is a thousand, so a longer fraction is never read as a spelling of 1.
  if (fraction.length > digits) return refuse('/amount', tooPrecise(code, digits));
  const minor = withoutLeadingZeros(whole + fraction.padEnd(digits, '0'));
  if (minor === '') return refuse('/amount', 'has to be more than zero');
  if (minor.length > MAX_MINOR_DIGITS) {
    return refuse('/amount', `has more than ${MAX_MINOR_DIGITS} digits in minor units`);
  }
  return { ok: true, money: { currency: code, minor, digits } };
}

/** The canonical decimal of an amount in its currency's precision: `250.00`, `500`, `18.600`. */
export function formatAmount(minor: string, digits: number): string {
  if (digits === 0) return minor;
  const padded = minor.padStart(digits + 1, '0');
  return `${padded.slice(0, -digits)}.${padded.slice(-digits)}`;
}

/**
 * The upper-case code of a currency that can be paid in. ASCII is checked before the case is changed, because letters such
 * as U+017F become ASCII by it.
 */
export function normaliseCurrency(text: string): string | undefined {
  if (!ALPHABETIC_CODE.test(text)) return undefined;
  const code = text.toUpperCase();
  return MINOR_UNIT_DIGITS.has(code) ? code : undefined;
}

/** The amount as a whole number of minor units, for sums and limits. */
export function minorOf(money: Money): bigint {
  return BigInt(money.minor);
}

/** Below 0, 0 or above 0 as `left` is less than, equal to or more than `right`; amounts of two currencies have no order. */
export function compareMoney(left: Money, right: Money): number {
  if (left.currency !== right.currency) {
    throw new RangeError(`can't compare ${left.currency} with ${right.currency}`);
  }
  const difference = minorOf(left) - minorOf(right);
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}

function refuse(pointer: '/amount' | '/currency', detail: string): MoneyResult {
  return { ok: false, pointer, detail };
}

function tooPrecise(currency: string, digits: number): string {
  return digits === 0
    ? `${currency} has no decimals`
    : `${currency} has at most ${digits} decimals`;
}

function withoutLeadingZeros(digits: string): string {
  return digits.replace(/^0+/, '');
}

// Messages of the sandbox provider: the request of a payment, and its answers read with suspicion.
import { parseMoney } from '../../domain/money.ts';
import type { JsonObject } from '../../domain/strict-json.ts';

/** The members of an answer that count; all may be missing in one that was cut or comes from a gateway. */
export interface SandboxAnswer {
  readonly id?: string;
  readonly token?: string;
  readonly state?: 'done' | 'pending' | 'failed';
  readonly capture?: string;
  readonly error?: { readonly code?: string };
}

/** A payment as a lookup shows it. */
export type SandboxPayment = SandboxAnswer & {
  readonly id: string;
  readonly state: 'done' | 'pending' | 'failed';
};

export const SandboxAnswer = {
  /** Undefined where the text is no JSON object. */
  read: (text: string): SandboxAnswer | undefined => readJson(text) as SandboxAnswer | undefined,
};

export const SandboxList = {
  /** Undefined where the text is not a list of payments: then it says nothing. */
  read(text: string): SandboxPayment[] | undefined {
    const data = readJson(text)?.['data'];
    return Array.isArray(data) && data.every(isPayment) ? data : undefined;
  },
};

/** The request of a payment. The sandbox counts in ISO 4217 minor units, as text, so no scaling table is needed. */
export function paymentRequest(command: JsonObject): Record<string, unknown> {
  const { amount, currency, customer_id, invoice_id, capture, memo } = command as Record<
    string,
    string
  >;
  const parsed = parseMoney(amount ?? '', currency ?? '');
  if (!parsed.ok) throw new Error(`stored payment: ${parsed.detail}`);
  const { money } = parsed;
  return {
    amount: money.minor,
    currency: money.currency,
    customer: customer_id,
    invoice: invoice_id,
    capture,
    ...(memo === undefined ? {} : { memo }),
  };
}

/** True where what the provider shows is what was sent; free text is left out, providers shorten it. */
export function sameRequest(found: object, requestBody: string): boolean {
  const sent = readJson(requestBody) ?? {};
  const shown = found as Record<string, unknown>;
  return ['amount', 'currency', 'customer', 'invoice', 'capture'].every(
    (member) => String(shown[member]) === String(sent[member]),
  );
}

function readJson(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function isPayment(value: unknown): value is SandboxPayment {
  if (typeof value !== 'object' || value === null) return false;
  const { id, state } = value as Record<string, unknown>;
  return typeof id === 'string' && ['done', 'pending', 'failed'].includes(String(state));
}

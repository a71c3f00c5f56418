// What the sandbox is asked before a write: for a refund, what is left of the payment. It knows of refunds that others made there.
import { MINOR_UNIT_DIGITS } from '../../domain/currencies.ts';
import { formatAmount } from '../../domain/money.ts';
import type { PreconditionAnswer } from '../../domain/precondition.ts';
import { exchange, type ExchangeResult } from '../http-client.ts';
import type { ProviderContact } from '../provider.ts';
import { readJson, readList, type SandboxObject } from './sandbox.messages.ts';

/** Kinds whose target is looked at before they are sent. */
export const PRECONDITIONED_KINDS: readonly string[] = ['refund'];

/** Reads what is left to refund; `headers` are those of every call to the sandbox. */
export async function readRefundable(
  contact: ProviderContact,
  headers: Readonly<Record<string, string>>,
): Promise<PreconditionAnswer> {
  const sent = readJson(contact.requestBody) ?? {};
  const query = new URLSearchParams({ reference: String(sent['payment']) });
  const result = await exchange({
    method: 'GET',
    url: `${contact.baseUrl}/v1/payment?${query.toString()}`,
    headers,
    deadlineMs: contact.deadlineMs,
  });
  return refundableOf(result, sent);
}

function refundableOf(
  result: ExchangeResult,
  sent: Readonly<Record<string, unknown>>,
): PreconditionAnswer {
  if (result.type !== 'answer') {
    return { status: 'unavailable', evidence: { code: result.reason } };
  }
  const list = result.status === 200 ? readList(result.body) : undefined;
  const evidence = { http_status: result.status, found: list?.length };
  if (!list || list.length > 1) return { status: 'unavailable', evidence };
  const [payment] = list;
  if (!payment) {
    const values = { payment: 'not found' };
    return { status: 'read', values, unmet: 'The provider does not show the payment.', evidence };
  }
  if (payment.state !== 'done') {
    const unmet = `The provider shows the payment as ${payment.state}.`;
    return { status: 'read', values: { payment: payment.state }, unmet, evidence };
  }
  const left = leftOf(payment);
  if (left === undefined) return { status: 'unavailable', evidence };
  const currency = String(sent['currency']);
  const refundable = `${formatAmount(String(left), MINOR_UNIT_DIGITS.get(currency) ?? 0)} ${currency}`;
  const enough = left >= BigInt(String(sent['amount']));
  return {
    status: 'read',
    values: { refundable },
    unmet: enough ? null : `Only ${refundable} of the payment can still be refunded.`,
    evidence,
  };
}

/** In minor units; undefined where the object doesn't say. */
function leftOf(payment: SandboxObject): bigint | undefined {
  const { amount, amount_refunded: refunded } = payment as unknown as Record<string, unknown>;
  if (typeof amount !== 'string' || typeof refunded !== 'string') return undefined;
  const isDigits = (text: string): boolean => /^\d{1,30}$/.test(text);
  if (!isDigits(amount) || !isDigits(refunded)) return undefined;
  const left = BigInt(amount) - BigInt(refunded);
  return left > 0n ? left : 0n;
}

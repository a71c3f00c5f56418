// Adapter of the sandbox provider: a payment API with native tokens and lookups by token. It documents few definite answers; they
// are the allow-list below, and all others are unknown.
import type { CapabilityCard } from '../../domain/capability-card.ts';
import { operationProblem } from '../../domain/operation-problem.ts';
import type { Evidence, LookupAnswer, UnknownReason, WriteOutcome } from '../../domain/outcome.ts';
import { exchange, type ExchangeResult } from '../http-client.ts';
import type { ProviderAdapter, ProviderContact } from '../provider.ts';
import { sandboxEvents } from './sandbox.events.ts';
import {
  readAnswer,
  readList,
  resultOf,
  sameRequest,
  type SandboxAnswer,
} from './sandbox.messages.ts';
import { PRECONDITIONED_KINDS, readRefundable } from './sandbox.preconditions.ts';
import { sandboxRequest } from './sandbox.requests.ts';

const SANDBOX_CARD: CapabilityCard = {
  token: 'native',
  allowsToken: (key) => /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/.test(key),
  retentionMs: 24 * 3_600_000,
  maxProcessingMs: 3_000,
  visibilityLagMs: 0,
  absenceIsAuthoritative: true,
  lookup: 'token',
  reversible: true,
};

export const sandboxProvider: ProviderAdapter = {
  name: 'sandbox',
  card: SANDBOX_CARD,
  events: sandboxEvents,
  preconditions: {
    kinds: PRECONDITIONED_KINDS,
    read: (contact) => readRefundable(contact, headersOf(contact)),
  },
  requestFor: (kind, command, target) => JSON.stringify(sandboxRequest(kind, command, target)),
  async write(contact) {
    const result = await exchange({
      method: 'POST',
      url: `${contact.baseUrl}/v1/${contact.kind}`,
      headers: { ...headersOf(contact), 'content-type': 'application/json' },
      body: contact.requestBody,
      deadlineMs: contact.deadlineMs,
    });
    return outcomeOf(result, contact);
  },
  async lookUp(contact) {
    const query = new URLSearchParams({ token: contact.token });
    const result = await exchange({
      method: 'GET',
      url: `${contact.baseUrl}/v1/${contact.kind}?${query.toString()}`,
      headers: headersOf(contact),
      deadlineMs: contact.deadlineMs,
    });
    return findingOf(result, contact);
  },
};

function headersOf(contact: ProviderContact<string | null>): Record<string, string> {
  return {
    authorization: `Bearer ${contact.credential}`,
    'idempotency-token': contact.token,
    'operation-id': contact.operationId,
    ...(contact.traceparent ? { traceparent: contact.traceparent } : {}),
  };
}

/** Conflicts that the sandbox documents; none of them says that nothing was done. */
const CONFLICTS: Readonly<Record<string, UnknownReason>> = {
  token_in_use: 'in_use',
  token_parameter_mismatch: 'token_mismatch',
  already_exists: 'already_exists',
  already_owned_by_you: 'already_exists',
};

function outcomeOf(result: ExchangeResult, contact: ProviderContact): WriteOutcome {
  if (result.type === 'not_sent') {
    return {
      status: 'not_sent',
      reason: 'provider_unreachable',
      evidence: { code: result.reason },
    };
  }
  if (result.type === 'lost') {
    return { status: 'unknown', reason: 'lost_answer', evidence: { code: result.reason } };
  }
  const answer = readAnswer(result.body);
  const evidence: Evidence = { http_status: result.status, code: answer?.error?.code };
  const definite = answer && definiteOutcome(result.status, answer, contact, evidence);
  if (definite) return definite;
  const reason = CONFLICTS[answer?.error?.code ?? ''] ?? 'unclear_answer';
  return { status: 'unknown', reason, evidence };
}

function definiteOutcome(
  status: number,
  answer: SandboxAnswer,
  contact: ProviderContact,
  evidence: Evidence,
): WriteOutcome | undefined {
  // An answer about another token, or about none, is not an answer to this write.
  const id = answer.token === contact.token ? answer.id : undefined;
  if ((status === 200 || status === 201) && id !== undefined && answer.state === 'done') {
    return {
      status: 'succeeded',
      reference: id,
      result: resultOf(contact.kind, id, answer),
      evidence,
    };
  }
  if ((status === 200 || status === 202) && id !== undefined && answer.state === 'pending') {
    return { status: 'pending', reference: id, evidence };
  }
  if (status === 402 && answer.error?.code === 'card_declined') {
    return { status: 'failed', error: operationProblem('provider_declined'), evidence };
  }
  if (status === 503 && answer.error?.code === 'not_executed') {
    return { status: 'not_sent', reason: 'provider_refused', evidence };
  }
  return undefined;
}

function findingOf(result: ExchangeResult, contact: ProviderContact<string | null>): LookupAnswer {
  if (result.type !== 'answer') {
    return { status: 'unavailable', evidence: { code: result.reason } };
  }
  const shown = result.status === 200 ? readList(result.body) : undefined;
  // A list that holds others' objects is an answer to another question.
  const list = shown?.every((one) => one.token === contact.token) ? shown : undefined;
  const evidence: Evidence = { http_status: result.status, found: list?.length };
  if (!list) return { status: 'unavailable', evidence };
  const [first, ...more] = list;
  if (!first) return { status: 'absent', evidence };
  const matching = sameRequest(contact.kind, first, contact.requestBody) ? 'matching' : 'contrary';
  return {
    status: 'found',
    match: more.length > 0 ? 'ambiguous' : matching,
    state: first.state,
    references: list.map((one) => one.id),
    result: resultOf(contact.kind, first.id, first),
    evidence,
  };
}

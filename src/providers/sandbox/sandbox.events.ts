// Events of the sandbox provider: signed like those of common payment providers, over time and body.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ProviderEvent } from '../../domain/provider-event.ts';
import type { EventScheme, SignedEvent } from '../provider.ts';
import {
  isObject,
  readJson,
  resultOf,
  sameRequest,
  type SandboxObject,
} from './sandbox.messages.ts';

/** A signature older than this may have been recorded and played again. */
const TOLERANCE_MS = 5 * 60_000;

const SIGNATURE = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/;

export const sandboxEvents: EventScheme = {
  read(signed) {
    return isAuthentic(signed) ? readEvent(signed.body) : undefined;
  },
  matches(body, kind, requestBody) {
    const object = objectOf(readJson(body));
    return object !== undefined && sameRequest(kind, object, requestBody);
  },
};

function isAuthentic({ body, header, secret, nowMs }: SignedEvent): boolean {
  const [, seconds = '', given = ''] = SIGNATURE.exec(header('sandbox-signature') ?? '') ?? [];
  if (given === '' || Math.abs(nowMs - Number(seconds) * 1_000) > TOLERANCE_MS) return false;
  const expected = createHmac('sha256', secret).update(`${seconds}.${body}`).digest();
  return timingSafeEqual(expected, Buffer.from(given, 'hex'));
}

function readEvent(body: string): ProviderEvent | undefined {
  const event = readJson(body);
  const object = objectOf(event);
  const { id, created_at: happenedAt, attempt } = event ?? {};
  if (!object || typeof id !== 'string' || typeof happenedAt !== 'string') return undefined;
  if (Number.isNaN(Date.parse(happenedAt))) return undefined;
  return {
    eventId: id,
    reference: object.id,
    token: object.token,
    state: object.state,
    happenedAt: new Date(happenedAt).toISOString(),
    ofEarlierAttempt: attempt === 'earlier',
    result: resultOf(String(object.object), object.id, object),
  };
}

function objectOf(event: Record<string, unknown> | undefined): SandboxObject | undefined {
  const data = event?.['data'];
  const object =
    typeof data === 'object' && data !== null ? (data as { object?: unknown }).object : undefined;
  return isObject(object) ? object : undefined;
}

// What the provider remembers: effects (what was really done) and token records (what was answered for a token).
import { createHash } from 'node:crypto';
import { z } from 'zod';

const Members = z.record(z.string(), z.unknown());

/** `failed` is a declined write, or a pending one that failed later; only `done` counts as something that happened. */
export const EffectState = z.enum(['done', 'pending', 'failed']);
export type EffectState = z.infer<typeof EffectState>;

/** One write that was carried out (or declined), as `GET /admin/effects` lists it; `account` stays inside. */
export const Effect = z.object({
  seq: z.number(),
  id: z.string(),
  kind: z.string(),
  /** Whose it is: a digest of the credential, so that no credential is ever written down. */
  account: z.string(),
  token: z.string(),
  operation_id: z.string().nullable(),
  state: EffectState,
  amount_minor: z.string().optional(),
  amount_sent: z.string().optional(),
  request: Members,
  created_at: z.string(),
  /** When it took another state than its first. */
  settled_at: z.string().optional(),
  /** Where objects of its kind have a status that people change, as tickets do. */
  status: z.string().optional(),
});
export type Effect = z.infer<typeof Effect>;

/** An HTTP answer, before it is sent or lost. */
export const Answer = z.object({
  status: z.number(),
  headers: z.record(z.string(), z.string()).optional(),
  /** Absent: no body at all. */
  body: Members.optional(),
});
export type Answer = z.infer<typeof Answer>;

/** The first answer for a token, kept so that a repeat gets it again. */
export const TokenRecord = z.object({
  account: z.string(),
  token: z.string(),
  kind: z.string(),
  operation_id: z.string().nullable(),
  request: Members,
  answer: Answer,
  created_at: z.string(),
});
export type TokenRecord = z.infer<typeof TokenRecord>;

/** One write as it came in. */
export interface WriteRequest {
  readonly account: string;
  readonly kind: string;
  readonly token: string;
  readonly operation_id: string | null;
  readonly request: Record<string, unknown>;
}

/** Something that was there before anything was written; no write made it, so it belongs to no account and counts nowhere. */
export const Standing = z.object({
  id: z.string(),
  kind: z.string(),
  status: z.string().optional(),
});
export type Standing = z.infer<typeof Standing>;

/** Whose a call is: a digest, so that no credential is ever kept or written down. */
export function accountOf(credential: string): string {
  return createHash('sha256').update(credential).digest('hex').slice(0, 16);
}

/** Where a fault's `match` texts are looked for in a write. */
export function textsOf(write: {
  readonly token: string | null;
  readonly operation_id: string | null;
  readonly request: unknown;
}): string[] {
  return [write.token ?? '', write.operation_id ?? '', JSON.stringify(write.request)];
}

/** Every refusal has this body. */
export function refusal(
  status: number,
  code: string,
  message: string,
  more: Record<string, unknown> = {},
): Answer {
  return { status, body: { error: { code, message, ...more } } };
}

/** An effect as the provider shows it to its customer, in answers, lookups and events; `refunded` in minor units, for payments. */
export function objectOf(effect: Effect, refunded = 0n): Record<string, unknown> {
  const { id, kind, state, token, created_at } = effect;
  const money = kind === 'payment' ? { amount_refunded: String(refunded) } : {};
  return {
    ...effect.request,
    ...statusOf(effect),
    ...money,
    id,
    object: kind,
    state,
    token,
    created_at,
  };
}

/** What was there before, as a lookup shows it. */
export function standingObjectOf(one: Standing): Record<string, unknown> {
  return { ...statusOf(one), id: one.id, object: one.kind, state: 'done' };
}

function statusOf({ status }: { readonly status?: string | undefined }): { status?: string } {
  return status === undefined ? {} : { status };
}

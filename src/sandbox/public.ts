// The public side: what an adapter talks to.
//
//   POST /v1/{kind}                      a write; Authorization, Idempotency-Token, Operation-Id (optional)
//   GET  /v1/{kind}?token= | ?reference= a lookup; Authorization, Operation-Id (optional)
import express, { type Express, type Request, type Response } from 'express';
import { z } from 'zod';
import type { Call, CallLog } from './calls.ts';
import type { Logger } from '../observability/logger.ts';
import { errorAnswerer, sentence } from './errors.ts';
import type { Faults } from './faults.ts';
import { bodyOfKind } from './kinds.ts';
import { lookUp } from './lookup.ts';
import { chooseMode, playMode } from './modes.ts';
import { accountOf, refusal, type Answer, type WriteRequest } from './records.ts';
import { Reply } from './reply.ts';
import type { Webhooks } from './webhooks.ts';
import type { World } from './world.ts';

/** What the public side is built from. */
export interface PublicSide {
  readonly world: World;
  readonly faults: Faults;
  readonly calls: CallLog;
  readonly holdMs: number;
  readonly hangMs: number;
  readonly visibilityLagMs: number;
  readonly webhooks: Webhooks;
  readonly webhookWaitMs: number;
  readonly stopped: AbortSignal;
  readonly logger: Logger | undefined;
}

const TOKEN = /^[\x20-\x7E]{1,255}$/;
const KIND = /^[a-z][a-z_]{0,63}$/;
const BEARER = /^Bearer +(\S+)$/i;

/** The app that adapters talk to. */
export function createPublicApp(side: PublicSide): Express {
  const app = express().disable('x-powered-by').disable('etag');
  app.use(express.json({ limit: '1mb' }));
  app.post('/v1/:kind', (req, res) => receiveWrite(side, req, res));
  app.get('/v1/:kind', lookupReceiver(side));
  app.use((req, res) => {
    const answer = refusal(404, 'unknown_route', `There is no ${req.method} ${req.path}.`);
    new Reply(req, res, side.holdMs).send(answer);
  });
  app.use(errorAnswerer(side.logger));
  return app;
}

async function receiveWrite(side: PublicSide, req: Request, res: Response): Promise<void> {
  const reply = new Reply(req, res, side.holdMs);
  const caller = callerOf(req);
  if ('status' in caller) return reply.send(caller);
  const token = req.header('idempotency-token') ?? null;
  const { account, ...named } = caller;
  const call = side.calls.begin({
    type: 'write',
    ...named,
    token,
    traceparent: req.header('traceparent') ?? null,
    request: bodyOf(req),
  });
  follow(call, res);
  const checked = checkWrite(caller.kind, token, bodyOf(req));
  if ('status' in checked) return reply.send(checked);
  const write = { account, ...named, ...checked };
  const chosen = chooseMode(side.world, side.faults, write);
  if ('status' in chosen) return reply.send(chosen);
  call.mode = chosen.mode;
  try {
    await playMode(chosen.mode, { ...side, write, reply, delayMs: chosen.delayMs });
  } catch (error) {
    // Stopped while it waited: the connections are being closed, and nothing was done.
    if (!side.stopped.aborted) throw error;
  }
}

const LookupQuery = z.union([
  z.strictObject({ token: z.string().min(1) }),
  z.strictObject({ reference: z.string().min(1) }),
]);

function lookupReceiver(side: PublicSide) {
  let refused = 0;
  return (req: Request, res: Response): void => {
    const reply = new Reply(req, res, side.holdMs);
    const caller = callerOf(req);
    if ('status' in caller) return reply.send(caller);
    const { account, ...named } = caller;
    const query = { ...req.query };
    const token = typeof query['token'] === 'string' ? query['token'] : null;
    const call = side.calls.begin({
      type: 'lookup',
      ...named,
      token,
      traceparent: req.header('traceparent') ?? null,
      request: query,
    });
    follow(call, res);
    const asked = LookupQuery.safeParse(query);
    if (!asked.success) {
      return reply.send(refusal(400, 'invalid_request', 'Ask by token or by reference.'));
    }
    const data = lookUp(side, { account, ...named, ...asked.data }, side.visibilityLagMs);
    if (data !== undefined) return reply.send({ status: 200, body: { data } });
    call.mode = 'down';
    // Of a provider that is down sometimes a proxy says so, and sometimes nobody: in turn, so that a client meets both.
    refused += 1;
    if (refused % 2 === 0) return reply.drop();
    reply.send(refusal(503, 'unavailable', 'Lookups are down.'));
  };
}

/** Who calls about what, or the answer to a call that doesn't say. */
function callerOf(
  req: Request,
): { account: string; kind: string; operation_id: string | null } | Answer {
  const kind = req.params['kind'];
  if (typeof kind !== 'string' || !KIND.test(kind)) {
    return refusal(404, 'unknown_route', 'A kind is named in lower-case letters.');
  }
  const credential = BEARER.exec(req.header('authorization') ?? '')?.[1];
  if (credential === undefined) {
    return refusal(401, 'unauthenticated', 'Send a credential: Authorization: Bearer …');
  }
  return { account: accountOf(credential), kind, operation_id: req.header('operation-id') ?? null };
}

const bodyOf = (req: Request): unknown => req.body ?? null;

/** What a write needs, or the answer to one that can't be taken at all; nothing is remembered of it. */
function checkWrite(
  kind: string,
  token: string | null,
  body: unknown,
): Pick<WriteRequest, 'token' | 'request'> | Answer {
  if (token === null) return refusal(400, 'token_missing', 'Send an Idempotency-Token.');
  if (!TOKEN.test(token)) {
    return refusal(400, 'token_invalid', 'A token is 1 to 255 printable ASCII characters.');
  }
  const parsed = bodyOfKind(kind).safeParse(body);
  if (parsed.success) return { token, request: parsed.data };
  return refusal(400, 'invalid_request', sentence(parsed.error));
}

/** When and how a call ended, however it did. */
function follow(call: Call, res: Response): void {
  const end = () => {
    call.ended_at ??= new Date().toISOString();
    if (res.headersSent) call.status = res.statusCode;
  };
  res.once('finish', end);
  res.once('close', end);
}

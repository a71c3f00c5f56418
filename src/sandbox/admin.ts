// The admin side: faults are asked for here, and what really happened is read here. Bodies and answers as test rigs rely on them.
import express, { type Express, type Request, type Response } from 'express';
import { z } from 'zod';
import type { Logger } from '../observability/logger.ts';
import type { CallLog } from './calls.ts';
import { deliver, Delivery } from './deliver.ts';
import { errorAnswerer, sentence } from './errors.ts';
import { LOOKUP_MODES, WRITE_MODES, type AskedMode, type Faults } from './faults.ts';
import { STANDING_KINDS } from './kinds.ts';
import { refusal, type Answer, type Effect } from './records.ts';
import type { Webhooks } from './webhooks.ts';
import type { World } from './world.ts';

/** What the admin side is built from. */
export interface AdminSide {
  readonly world: World;
  readonly faults: Faults;
  readonly calls: CallLog;
  readonly webhooks: Webhooks;
  readonly logger: Logger | undefined;
}

const text = z.string().min(1);
const aim = { kind: text, match: z.array(text).min(1).optional() };
const milliseconds = z.int().min(0).max(3_600_000);
const modeMembers = { mode: z.enum(WRITE_MODES), delay_ms: milliseconds.default(1_000) };
const asAsked = (one: { mode: AskedMode['mode']; delay_ms: number }): AskedMode => ({
  mode: one.mode,
  delayMs: one.delay_ms,
});

/** A mode alone, or with what it needs. */
const Mode = z.preprocess(
  (value) => (typeof value === 'string' ? { mode: value } : value),
  z.strictObject(modeMembers).transform(asAsked),
);
const Script = z.strictObject({ ...aim, modes: z.array(Mode) });
const Sticky = z.strictObject({ ...aim, ...modeMembers });
const Lookup = z.strictObject({
  ...aim,
  mode: z.enum(LOOKUP_MODES),
  ms: milliseconds.optional(),
});
const Reset = z.strictObject({ what: z.literal('faults') });
const Settle = z.strictObject({
  ...aim,
  token: text.optional(),
  state: z.enum(['done', 'failed']),
});

/** What the cases ask of the world beyond the kinds that there are; offered with those that need it. */
const LATER = ['registry', 'git', 'script_on', 'race_ship_with_next'];
/** Rigs name the write that comes next with every change; what doesn't depend on it leaves it aside. */
const anyAim = { kind: aim.kind.optional(), match: aim.match };
const Change = z.discriminatedUnion('do', [
  z.strictObject({ do: z.literal('token_retention'), ...aim, hours: z.number().min(0) }),
  z.strictObject({ do: z.literal('visibility_lag'), ...aim, ms: milliseconds }),
  z.strictObject({ do: z.literal('seed'), ...anyAim, resource: text, name: text }),
  z.strictObject({ do: z.literal('person_sets'), ...anyAim, ticket: text, status: text }),
]);

const DONE: Answer = { status: 200, body: { ok: true } };
const notOffered = (what: string) => refusal(501, 'not_offered', `${what} is not offered yet.`);

/** The app that test rigs talk to. */
export function createAdminApp(side: AdminSide): Express {
  const { world, faults, calls, webhooks } = side;
  const app = express().disable('x-powered-by').disable('etag');
  app.use(express.json({ limit: '1mb' }));
  app.get('/healthz', (_req, res) => void res.json({ status: 'ok' }));
  app.get('/admin/effects', (_req, res) => void res.json({ effects: world.effects.map(listed) }));
  app.get('/admin/calls', (_req, res) => void res.json({ calls: calls.all }));
  app.post(
    '/admin/script',
    taking(Script, (body) => setScript(side, body)),
  );
  app.post(
    '/admin/sticky',
    taking(Sticky, (body) => setSticky(side, body)),
  );
  app.post(
    '/admin/lookup',
    taking(Lookup, (body) => setLookup(faults, body)),
  );
  app.post(
    '/admin/reset',
    taking(Reset, () => reset(faults)),
  );
  app.post(
    '/admin/objects/settle',
    taking(Settle, (body) => settle(world, body)),
  );
  app.post(
    '/admin/webhooks/deliver',
    taking(Delivery, (body) => (webhooks.offered ? deliver(side, body) : NO_WEBHOOKS)),
  );
  app.post('/admin/world', (req, res) => changeWorld(side, req, res));
  app.use((_req, res) => answer(res, refusal(404, 'unknown_route', 'There is no such route.')));
  app.use(errorAnswerer(side.logger));
  return app;
}

function answer(res: Response, { status, body }: Answer): void {
  res.status(status).json(body);
}

/** A handler of bodies of one shape; others are refused with a sentence. */
function taking<T>(schema: z.ZodType<T>, act: (body: T) => Answer | Promise<Answer>) {
  return async (req: Request, res: Response): Promise<void> => {
    const parsed = schema.safeParse(req.body);
    if (parsed.success) return answer(res, await act(parsed.data));
    answer(res, refusal(400, 'invalid_request', sentence(parsed.error)));
  };
}

/** Whose an effect is stays inside: it comes from a credential. */
function listed({ account: _account, ...effect }: Effect): Omit<Effect, 'account'> {
  return effect;
}

const NO_WEBHOOKS = refusal(501, 'not_offered', 'No webhook endpoint is set up.');
/** A rig that asks for an event which can reach nobody would take its silence for an answer. */
const cannotTell = (side: AdminSide, mode: AskedMode['mode']) =>
  mode === 'webhook_before_response' && !side.webhooks.offered;

function setScript(side: AdminSide, { modes, ...meant }: z.infer<typeof Script>): Answer {
  if (modes.some(({ mode }) => cannotTell(side, mode))) return NO_WEBHOOKS;
  side.faults.scripts.set(meant, modes);
  return DONE;
}

function setSticky(side: AdminSide, { mode, delay_ms, ...meant }: z.infer<typeof Sticky>): Answer {
  if (cannotTell(side, mode)) return NO_WEBHOOKS;
  side.faults.sticky.set(meant, asAsked({ mode, delay_ms }));
  return DONE;
}

function setLookup(faults: Faults, { mode, ms, ...meant }: z.infer<typeof Lookup>): Answer {
  if (mode === 'hidden_for' && ms === undefined) {
    return refusal(400, 'invalid_request', 'ms: hidden_for needs to know for how long.');
  }
  faults.lookups.set(meant, { mode, until: Date.now() + (ms ?? 0) });
  return DONE;
}

function reset(faults: Faults): Answer {
  faults.reset();
  return DONE;
}

function settle(world: World, { token, state, ...meant }: z.infer<typeof Settle>): Answer {
  const settled = world.settle(meant, token, state);
  return { status: 200, body: { settled: settled.map(({ id }) => id) } };
}

async function changeWorld(side: AdminSide, req: Request, res: Response): Promise<void> {
  const wanted = z.looseObject({ do: z.string() }).safeParse(req.body);
  if (wanted.success && LATER.includes(wanted.data.do)) {
    return answer(res, notOffered(wanted.data.do));
  }
  await taking(Change, (change) => applyChange(side, change))(req, res);
}

function applyChange({ world, faults }: AdminSide, change: z.infer<typeof Change>): Answer {
  switch (change.do) {
    case 'token_retention':
      faults.retention.set(change, change.hours * 3_600_000);
      return DONE;
    case 'visibility_lag':
      faults.visibilityLag.set(change, change.ms);
      return DONE;
    case 'seed': {
      const kind = STANDING_KINDS.find((one) => one === change.resource);
      if (kind === undefined) return notOffered(`seed ${change.resource}`);
      world.seed(kind, change.name);
      return DONE;
    }
    case 'person_sets':
      return world.setTicketStatus(change.ticket, change.status)
        ? DONE
        : refusal(409, 'no_such_object', 'There is no such ticket.');
  }
}

// How each mode of a write behaves. Which write plays which mode is decided in faults.ts.
import { setTimeout as pause } from 'node:timers/promises';
import { tell } from './events.ts';
import type { AskedMode, Faults, WriteMode } from './faults.ts';
import { refusal, type Answer, type TokenRecord, type WriteRequest } from './records.ts';
import type { Reply } from './reply.ts';
import type { Webhooks } from './webhooks.ts';
import type { World } from './world.ts';

/** All that a mode may use. */
export interface Play {
  readonly world: World;
  readonly write: WriteRequest;
  readonly reply: Reply;
  readonly delayMs: number;
  /** How long `hang_then_commit` waits before it acts. */
  readonly hangMs: number;
  readonly webhooks: Webhooks;
  /** How long `webhook_before_response` waits for the receiver before it answers all the same. */
  readonly webhookWaitMs: number;
  /** Aborted when the provider stops: what waits to act never will. */
  readonly stopped: AbortSignal;
}

const IN_USE = refusal(409, 'token_in_use', 'A call with this token is still being worked on.');
const MISMATCH = refusal(
  409,
  'token_parameter_mismatch',
  'This token was used before with another request.',
);
const INTERNAL = refusal(500, 'internal_error', 'Something went wrong on our side.');
const NOT_EXECUTED: Answer = {
  ...refusal(503, 'not_executed', 'Overloaded. This request was not executed; send it again.'),
  headers: { 'Not-Executed': 'true', 'Retry-After': '1' },
};

/** The mode that a write plays, or the answer that it gets without one. A mode taken here is used up. */
export function chooseMode(world: World, faults: Faults, write: WriteRequest): AskedMode | Answer {
  const situation = world.situation(write);
  if (situation === 'mismatch') return MISMATCH;
  if (situation === 'fresh') world.note(write);
  const asked = faults.take(write, situation);
  if (asked === undefined && situation === 'in_use') return IN_USE;
  return asked ?? { mode: 'ok', delayMs: 0 };
}

/** Makes the world and the caller go through one write; resolves when nothing more will come of it. */
export async function playMode(mode: WriteMode, play: Play): Promise<void> {
  await PLAYS[mode](play);
}

/** Acts; or where the token has its answer already, gives that. Nothing acts twice for a token, whatever the mode. */
function actOnce({ world, write }: Play): Answer {
  const record = world.recordOf(write);
  return record === undefined ? world.act(write, 'done') : replayOf(record);
}

/** The first answer again. A creation is told as 200, since this call created nothing. */
function replayOf({ answer }: TokenRecord): Answer {
  return {
    ...answer,
    status: answer.status === 201 ? 200 : answer.status,
    headers: { ...answer.headers, 'Idempotent-Replayed': 'true' },
  };
}

async function actAfter(play: Play, ms: number): Promise<void> {
  const acted = play.world.keepOpen(play.write, async () => {
    await pause(ms, undefined, { signal: play.stopped });
    return actOnce(play);
  });
  play.reply.send(await acted);
}

/** The caller hears of its own write by an event first. The token stays in use until it has its answer. */
async function tellThenAnswer(play: Play): Promise<void> {
  const { world, write, webhooks, webhookWaitMs, stopped } = play;
  const acted = world.keepOpen(write, async () => {
    const answer = actOnce(play);
    const endpoint = webhooks.of(write.account);
    if (endpoint !== undefined) {
      const event = tell(world, write, `${write.kind}.succeeded`, 'current');
      const waited = pause(webhookWaitMs, undefined, { signal: stopped, ref: false });
      await Promise.race([webhooks.deliver(endpoint, event), waited]);
    }
    return answer;
  });
  play.reply.send(await acted);
}

function sayExists({ world, write, reply }: Play, code: string): void {
  const existing = world.byToken(write.account, write.token).at(-1);
  const named = existing === undefined ? {} : { existing_id: existing.id };
  reply.send(refusal(409, code, 'Such an object exists already.', named));
}

const PLAYS: Readonly<Record<WriteMode, (play: Play) => void | Promise<void>>> = {
  ok: (play) => play.reply.send(actOnce(play)),
  decline: ({ world, write, reply }) => reply.send(world.act(write, 'failed')),
  accepted_async: ({ world, write, reply }) => reply.send(world.act(write, 'pending')),
  ok_empty_204: ({ world, write, reply }) => reply.send(world.act(write, 'done', { status: 204 })),
  error_500_cached: ({ world, write, reply }) => reply.send(world.remember(write, INTERNAL)),
  delay_then_ok: (play) => actAfter(play, play.delayMs),
  hang_then_commit: (play) => actAfter(play, play.hangMs),
  webhook_before_response: tellThenAnswer,

  commit_then_timeout: (play) => {
    actOnce(play);
    return play.reply.silence();
  },
  commit_then_reset: (play) => {
    actOnce(play);
    play.reply.reset();
  },
  commit_then_500: (play) => {
    actOnce(play);
    play.reply.send(INTERNAL);
  },
  commit_then_gateway_504_html: (play) => {
    actOnce(play);
    play.reply.gatewayTimeout();
  },
  commit_then_truncated_body: (play) => play.reply.truncate(actOnce(play)),

  timeout_no_commit: ({ reply }) => reply.silence(),
  error_503_not_executed: ({ reply }) => reply.send(NOT_EXECUTED),
  conflict_in_progress: ({ reply }) => reply.send(IN_USE),
  param_mismatch: ({ reply }) => reply.send(MISMATCH),
  already_exists: (play) => sayExists(play, 'already_exists'),
  already_owned_by_you: (play) => sayExists(play, 'already_owned_by_you'),
  not_found_404: ({ reply }) => reply.send(refusal(404, 'not_found', 'No such object.')),
};

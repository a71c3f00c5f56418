// Agents that want one thing each and don't let go: the same key again after every answer that is lost, by either API, sometimes twice
// at once, sometimes without patience.
import { setTimeout as sleep } from 'node:timers/promises';
import { chance } from './random.mjs';

/** How the provider takes a write. Half of them act and lose the answer: those are what a blind retry would do twice. */
const MODES = [
  'ok',
  'ok',
  'ok',
  'ok',
  'ok',
  'commit_then_timeout',
  'commit_then_reset',
  'commit_then_500',
  'commit_then_truncated_body',
  'commit_then_gateway_504_html',
  'hang_then_commit',
  'delay_then_ok',
  'ok_empty_204',
  'timeout_no_commit',
  'error_503_not_executed',
  'error_500_cached',
  'conflict_in_progress',
  'decline',
  'accepted_async',
  'webhook_before_response',
  'already_exists',
];
/** What makes asking harder: down for a while, late, or contradicting. */
const LOOKUPS = ['hidden_for', 'down', 'wrong_amount', 'two_matches'];
const RESTS = ['SUCCEEDED', 'FAILED', 'NEEDS_REVIEW', 'REJECTED', 'EXPIRED', 'CANCELED'];

/** An agent gives way to the next one after this long; what becomes of its operation is judged at the end. */
const PATIENCE_MS = 6_000;
/** As long as that an agent tries to be heard at all. */
const HEARD_WITHIN_MS = 60_000;

/** What operation `n` of this seed wants, and what the provider does with it. */
export function plan(seed, n) {
  const random = chance(seed, 'operation', n);
  const key = random.uuid();
  const minor = random.between(100, 90_000);
  return {
    n,
    key,
    minor: String(minor),
    random,
    mode: random.pick(MODES),
    lookup: random.happens(0.12) ? random.pick(LOOKUPS) : undefined,
    together: random.happens(0.3) ? random.between(2, 4) : 1,
    body: {
      amount: `${Math.floor(minor / 100)}.${String(minor % 100).padStart(2, '0')}`,
      currency: 'USD',
      customer_id: 'cus_1',
      invoice_id: `inv-${key}`,
    },
  };
}

/** Scripts the provider, then submits until an answer comes. Answers are added to `history`. */
export async function pursue(system, wanted, history) {
  await script(system, wanted);
  const heardBy = performance.now() + HEARD_WITHIN_MS;
  const restBy = performance.now() + PATIENCE_MS;
  let many = wanted.together;
  for (let heard; performance.now() < (heard ? restBy : heardBy); many = 1) {
    const answers = await Promise.all(Array.from({ length: many }, () => submit(system, wanted)));
    history.push(...answers);
    heard ??= answers.find(({ operationId }) => operationId !== undefined);
    if (answers.some(({ state }) => RESTS.includes(state))) return;
    await sleep(wanted.random.between(20, 400));
  }
}

async function script({ tellProvider }, { mode, lookup, key, random }) {
  const aim = { kind: 'payment', match: [key] };
  const delay_ms = random.between(100, 1_500);
  if (mode !== 'ok') await tellProvider('/admin/script', { ...aim, modes: [{ mode, delay_ms }] });
  if (lookup)
    await tellProvider('/admin/lookup', { ...aim, mode: lookup, ms: random.between(500, 4_000) });
}

/** One submit as an agent sends it: to one of the APIs, with as much patience as it happens to have. */
async function submit(system, { key, body, random }) {
  const impatient = random.happens(0.3);
  const timeout = impatient ? random.between(5, 250) : 8_000;
  const wait = random.happens(0.5) ? random.between(1, 5) : 0;
  const answer = { key, begun: Date.now(), impatient };
  try {
    const got = await fetch(`${random.pick(system.apis)}/agent/operations/payment`, {
      method: 'POST',
      signal: AbortSignal.timeout(timeout),
      headers: {
        authorization: `Bearer ${system.token}`,
        'content-type': 'application/json',
        'idempotency-key': key,
        ...(wait > 0 && { prefer: `wait=${wait}` }),
      },
      body: JSON.stringify(body),
    });
    const text = await got.text();
    return { ...answer, ...understood(got, text), ended: Date.now() };
  } catch (error) {
    return { ...answer, lost: error.name, ended: Date.now() };
  }
}

function understood(got, text) {
  const told = JSON.parse(text);
  return {
    status: got.status,
    disposition: got.headers.get('operation-disposition'),
    replayed: got.headers.get('idempotent-replayed') === 'true',
    operationId: got.ok ? told.operation_id : undefined,
    state: got.ok ? told.status : undefined,
    code: told.code,
    text,
  };
}

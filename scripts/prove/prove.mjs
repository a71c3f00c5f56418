// One run: start, agents and faults side by side, heal, wait for rest, judge.
import { setTimeout as sleep } from 'node:timers/promises';
import { plan, pursue } from './agents.mjs';
import { healEverything, inflict } from './faults.mjs';
import { judge } from './judge.mjs';
import { chance } from './random.mjs';
import { startSystem } from './system.mjs';

/** Beyond the longest way to rest: a lost worker noticed, the send window, looks, a resend, and once more. */
const REST_WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 500;
const PROGRESS_EVERY_MS = 30_000;
const SHOWN = 20;

const ROWS = `
  select operation_id, idempotency_key, provider_token, status, review_reason, created_at,
    extract(epoch from settled_at - created_at)::float8 * 1000 as settle_ms from operations`;
const OPEN = `select count(*)::int as open from operations
  where settled_at is null and status <> 'NEEDS_REVIEW'`;

/** Answers the counts of contract §12 and the number of violations; says what it does and what it finds. */
export async function prove({ seed, operations, agents }, say) {
  const system = await startSystem();
  let keep = true;
  // Whoever is not patient enough must not leave a database, an engine and four processes behind.
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => void system.stop({ keep: false }).finally(() => process.exit(1)));
  }
  try {
    const begun = performance.now();
    const plans = Array.from({ length: operations }, (_, n) => plan(seed, n));
    const history = [];
    const progress = setInterval(
      () => say(`${seconds(begun)} s: ${history.length} requests`),
      PROGRESS_EVERY_MS,
    );
    const suffered = await work(system, seed, plans, agents, history).finally(() =>
      clearInterval(progress),
    );
    say(`${seconds(begun)} s: agents done, ${suffered.length} faults of machines; healing`);
    await healEverything(system);
    await lookNow(system);
    await untilRest(system, seed);
    say(`${seconds(begun)} s: at rest`);
    const { rows } = await system.pool.query(ROWS);
    const effects = await system.providerList('effects');
    const calls = await system.providerList('calls');
    const writes = calls.filter(({ type }) => type === 'write');
    const found = judge({ plans, history, rows, effects, writes });
    const violations = report(found, say);
    sayFaults(suffered, say);
    keep = violations > 0;
    if (keep) say(`kept for a look: ${system.home}`);
    return { ...count({ plans, history, suffered, rows, found, say }), violations };
  } finally {
    await system.stop({ keep });
  }
}

/** Agents, faults and the provider's events side by side; answers the faults, and fills `history`. */
async function work(system, seed, plans, agents, history) {
  const queue = [...plans];
  let over = false;
  const lane = async () => {
    for (let wanted = queue.shift(); wanted; wanted = queue.shift()) {
      await pursue(system, wanted, history);
    }
  };
  const faults = inflict(system, seed, () => over);
  const events = settleAccepted(system, seed, () => over);
  try {
    await Promise.all(Array.from({ length: agents }, lane));
  } finally {
    over = true;
  }
  const [suffered] = await Promise.all([faults, events]);
  return suffered;
}

/** The provider ends what it had accepted, one way or the other, as the seed has it. */
async function settleAccepted(system, seed, over) {
  while (!over()) {
    await settleOnce(system, seed).catch(() => undefined);
    await sleep(LOOK_EVERY_MS);
  }
}

async function settleOnce({ providerList, tellProvider }, seed) {
  for (const { kind, token, state } of await providerList('effects')) {
    if (state !== 'pending') continue;
    const end = chance(seed, 'ends', token).happens(0.7) ? 'done' : 'failed';
    await tellProvider('/admin/objects/settle', { kind, token, state: end });
  }
}

/** As an operator does after an outage: the pauses between looks have grown while the provider was silent. */
async function lookNow({ pool, apis: [base], operatorToken }) {
  const { rows } = await pool.query(
    `select operation_id from operations where status in ('UNKNOWN', 'RECONCILING')`,
  );
  for (const { operation_id: id } of rows) {
    const answer = await fetch(`${base}/operator/operations/${id}/reconcile`, {
      method: 'POST',
      headers: { authorization: `Bearer ${operatorToken}` },
    });
    // It may have come to rest by itself meanwhile.
    if (![200, 202, 409].includes(answer.status)) throw new Error(await answer.text());
  }
}

/** What is not at rest in time is found by the judge. */
async function untilRest(system, seed) {
  const deadline = performance.now() + REST_WITHIN_MS;
  while (performance.now() < deadline) {
    await settleOnce(system, seed);
    const { rows } = await system.pool.query(OPEN);
    if (rows[0].open === 0) return;
    await sleep(LOOK_EVERY_MS);
  }
}

function report(found, say) {
  const all = Object.entries(found).flatMap(([what, list]) => list.map((one) => `${what}: ${one}`));
  for (const line of all.slice(0, SHOWN)) say(`VIOLATED ${line}`);
  if (all.length > SHOWN) say(`and ${all.length - SHOWN} more`);
  return all.length;
}

function sayFaults(suffered, say) {
  const failed = suffered.filter((one) => one.failed !== undefined);
  for (const { name, failed: why } of failed)
    say(`a fault that could not be made: ${name}: ${why}`);
}

/** An operation is faulted where its provider misbehaved, an answer was lost, or a machine's fault fell into its life. */
function count({ plans, history, suffered, rows, found, say }) {
  const rowOf = new Map(rows.map((row) => [row.idempotency_key, row]));
  const lost = new Set(history.filter((one) => one.lost !== undefined).map(({ key }) => key));
  const hit = ({ key }) => {
    const row = rowOf.get(key);
    const from = row ? (row.created_at.getTime?.() ?? Date.parse(row.created_at)) : 0;
    const to = from + (row?.settle_ms ?? 0);
    return suffered.some((one) => one.begun <= to && one.ended >= from);
  };
  const provider = plans.filter(({ mode, lookup }) => mode !== 'ok' || lookup !== undefined);
  const faulted = plans.filter((one) => provider.includes(one) || lost.has(one.key) || hit(one));
  const settled = rows.filter(({ settle_ms: ms }) => ms !== null);
  const toPerson = rows.filter(({ status }) => status === 'NEEDS_REVIEW');
  say(`${faulted.length} of ${plans.length} operations were faulted`);
  return {
    operations: plans.length,
    faults: suffered.length + provider.length + history.filter((one) => one.lost).length,
    duplicate_effects: found.duplicate_effects.length,
    lost: found.lost.length,
    wrong_final: found.wrong_final.length + found.history.length,
    settled: settled.length,
    to_person: toPerson.length,
    settle_p50_ms: median(settled.map(({ settle_ms: ms }) => ms)),
  };
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0);
}

const seconds = (since) => ((performance.now() - since) / 1_000).toFixed(0);

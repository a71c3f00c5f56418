// What must hold when all is over: by the provider's list of effects, by the register, and by every answer that an agent got.

const DONE = ['SUCCEEDED'];
const NOT_DONE = ['FAILED', 'REJECTED', 'EXPIRED', 'CANCELED'];
const NEVER_HEARD = new Set();

/**
 * `plans`: what was wanted; `history`: every answer; `rows`: the register; `effects`, `writes`: the provider's. Answers the counts and
 * each violation as a sentence.
 */
export function judge({ plans, history, rows, effects, writes }) {
  const byKey = new Map(rows.map((row) => [row.idempotency_key, row]));
  const doneByToken = groupBy(
    effects.filter(({ state }) => state === 'done'),
    ({ token }) => token,
  );
  const answers = groupBy(history, ({ key }) => key);
  const found = { duplicate_effects: [], lost: [], wrong_final: [], history: [] };
  for (const wanted of plans) {
    const row = byKey.get(wanted.key);
    const given = answers.get(wanted.key) ?? [];
    const done = doneByToken.get(row?.provider_token ?? wanted.key) ?? [];
    if (done.length > 1) found.duplicate_effects.push(`${wanted.key}: ${done.length} effects`);
    found.lost.push(...lossesOf(wanted, row, given, done));
    if (row) found.wrong_final.push(...wrongEndsOf(wanted, row, done));
    found.history.push(...contradictionsOf(wanted, row, given));
  }
  found.lost.push(...strayEffects(effects, rows));
  found.history.push(...changedWrites(writes));
  return found;
}

/** Whatever was accepted, or done, has its row; and every row is at rest. */
function lossesOf({ key }, row, given, done) {
  const accepted = given.some(({ operationId }) => operationId !== undefined);
  if (!row) return accepted || done.length > 0 ? [`${key}: accepted, and not in the register`] : [];
  const rests = [...DONE, ...NOT_DONE, 'NEEDS_REVIEW'].includes(row.status);
  return rests ? [] : [`${key}: ${row.operation_id} is still ${row.status}`];
}

function wrongEndsOf({ key, minor, mode }, { status, review_reason: reason }, done) {
  const is = `${key} (${mode}) is ${status}`;
  if (DONE.includes(status)) {
    if (done.length === 0) return [`${is} without an effect`];
    if (done[0].amount_minor !== minor) return [`${is} with ${done[0].amount_minor}, not ${minor}`];
  }
  if (NOT_DONE.includes(status) && done.length > 0) return [`${is} with an effect`];
  if (status === 'NEEDS_REVIEW' && !reason) return [`${is} and nobody says why`];
  return [];
}

/** One key, one operation, one creation; refusals that nothing explains; a settled answer that changes. */
function contradictionsOf({ key }, row, given) {
  const told = [];
  const ids = new Set(given.map(({ operationId }) => operationId ?? NEVER_HEARD));
  ids.delete(NEVER_HEARD);
  if (ids.size > 1) told.push(`${key}: answered with ${ids.size} operations`);
  if (row && ids.size === 1 && !ids.has(row.operation_id)) told.push(`${key}: another operation`);
  const created = given.filter(({ disposition }) => disposition === 'created');
  if (created.length > 1) told.push(`${key}: created ${created.length} times`);
  for (const { status, code } of given) {
    if (status !== undefined && ![200, 202, 503].includes(status)) {
      told.push(`${key}: answered ${status} ${code}`);
    }
  }
  const bytes = new Set(given.filter(({ replayed }) => replayed).map(({ text }) => text));
  // A settled answer changes only where the operation was opened again, and then a person has it.
  if (bytes.size > 1 && row?.status !== 'NEEDS_REVIEW') told.push(`${key}: replays differ`);
  return told;
}

function strayEffects(effects, rows) {
  const known = new Set(rows.map(({ operation_id: id }) => id));
  return effects
    .filter(({ operation_id: id }) => !known.has(id))
    .map(({ id }) => `${id}: an effect of no operation`);
}

/** All writes of an operation carry one token and the same bytes. */
function changedWrites(writes) {
  return [...groupBy(writes, ({ operation_id: id }) => id)].flatMap(([id, own]) => {
    const tokens = new Set(own.map(({ token }) => token)).size;
    const bodies = new Set(own.map(({ request }) => JSON.stringify(request))).size;
    return tokens === 1 && bodies === 1 ? [] : [`${id}: ${tokens} tokens, ${bodies} bodies`];
  });
}

function groupBy(list, keyOf) {
  const groups = new Map();
  for (const one of list) {
    const key = keyOf(one);
    if (groups.has(key)) groups.get(key).push(one);
    else groups.set(key, [one]);
  }
  return groups;
}

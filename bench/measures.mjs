// What is measured, each against an anchor in the same run on the same machine: only the ratios mean anything.
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { Pool } from 'pg';
import { approveToDispatch } from './approve-to-dispatch.mjs';
import { auditVerify } from './audit-verify.mjs';
import { fill } from './fill.mjs';
import { load, percentile } from './load.mjs';
import { liveMegabytes } from './live-memory.mjs';
import { call, stopNode } from './system.mjs';

/** Agents that wait for their payments at once. */
const AT_ONCE = 20;
/** Callers at the door at once: it is made for many, and what few of them see is how long one waits. */
const AT_THE_DOOR = 64;
/** Requests before anything is counted: code that the engine has not compiled yet is another program. */
const WARM_UP = 3_000;
/** Ours and the anchor in turns, because what else the machine does comes and goes; the middle one of each counts. */
const TURNS = 5;

/** Bodies and headers of a payment under a fresh key. */
function fresh(system, key = randomUUID()) {
  return {
    headers: { authorization: `Bearer ${system.token}`, 'idempotency-key': key },
    body: { amount: '25.00', currency: 'USD', customer_id: 'cus_1', invoice_id: `inv-${key}` },
  };
}

const submitUrl = (system) => `${system.base}/agent/operations/payment`;

/** Submits and waits for the end, as an agent does that asks to be held. */
async function payAndWait(system) {
  const { headers, body } = fresh(system);
  const answer = await call('POST', submitUrl(system), {
    headers: { ...headers, prefer: 'wait=45' },
    body,
  });
  if (answer.status !== 'SUCCEEDED') throw new Error(`a payment is ${answer.status}`);
}

/** The whole path of a low-risk payment against a bare workflow with one no-op activity. */
export async function path(system, count) {
  const connection = await Connection.connect({ address: system.temporalAddress });
  const client = new Client({ connection });
  const anchor = await system.startAnchor('worker');
  const bare = () =>
    client.workflow.execute('bare', { taskQueue: 'anchor', workflowId: randomUUID() });
  const works = { anchor: bare, ours: () => payAndWait(system) };
  const turns = await inTurns(works, { count, warmUp: count, atOnce: AT_ONCE });
  await stopNode(anchor);
  await connection.close();
  return [
    row('path_throughput', turns.ours.perSecond, turns.anchor.perSecond, 'operations/s'),
    row('path_p50', turns.ours.p50, turns.anchor.p50, 'ms'),
  ];
}

/** Submit to 202 against Express with one insert, and a repeat of a settled key against Express with one indexed select. */
export async function requests(system, count) {
  const anchor = await system.startAnchor('http');
  const url = anchor.said;
  const key = randomUUID();
  await settled(system, key);
  await call('POST', `${url}/insert`, fresh(system, key));
  const works = {
    select: () => call('POST', `${url}/select`, fresh(system, key)),
    replay: () => call('POST', submitUrl(system), fresh(system, key)),
    insert: () => call('POST', `${url}/insert`, fresh(system)),
    submit: () => call('POST', submitUrl(system), fresh(system)),
  };
  const turns = await inTurns(works, { count, warmUp: WARM_UP, atOnce: AT_THE_DOOR });
  await stopNode(anchor);
  return [
    row('submit_rps', turns.submit.perSecond, turns.insert.perSecond, 'requests/s'),
    row('replay_rps', turns.replay.perSecond, turns.select.perSecond, 'requests/s'),
  ];
}

/** Does each work by turns, `count` of it in each turn; answers the middle throughput and latency of each. */
async function inTurns(works, { count, warmUp, atOnce }) {
  const names = Object.keys(works);
  const loads = Object.fromEntries(names.map((name) => [name, []]));
  for (const name of names) await load(warmUp, atOnce, works[name]);
  for (let turn = 0; turn < TURNS; turn++) {
    for (const name of names) loads[name].push(await load(count, atOnce, works[name]));
  }
  const middle = (list, member) =>
    percentile(
      list.map((one) => one[member]),
      0.5,
    );
  return Object.fromEntries(
    names.map((name) => [
      name,
      { perSecond: middle(loads[name], 'perSecond'), p50: middle(loads[name], 'p50') },
    ]),
  );
}

/** Checking an exported audit against hashing the same bytes once. */
export async function audit(count) {
  const { ours, anchor } = await auditVerify(count);
  return [row('audit_verify', ours, anchor, 'MB/s')];
}

/** A settled operation without anybody to settle it: the bytes that a worker would have stored. */
async function settled(system, key) {
  const operation = await call('POST', submitUrl(system), fresh(system, key));
  const stored = { ...operation, status: 'SUCCEEDED', result: { payment_id: 'pay_1' } };
  const pool = new Pool({ connectionString: system.databaseUrl, max: 1 });
  await pool.query(
    `update operations set status = 'SUCCEEDED', response_status = 200, response_body = $2
     where operation_id = $1`,
    [operation.operation_id, JSON.stringify(stored)],
  );
  await pool.end();
}

/** From the approval of a held payment to its first intent. */
export async function approval(system, count) {
  const submit = () => {
    const { headers, body } = fresh(system);
    return call('POST', submitUrl(system), { headers, body: { ...body, amount: '5000.00' } });
  };
  const { ours, anchor } = await approveToDispatch(system, count, submit);
  return [row('approve_to_dispatch', ours, anchor, 'ms')];
}

/** From UNKNOWN to settled, for agents that wait for the end, five at a time; the anchor is what the promise allows: lag (0 here) and 1.5 s. */
export async function settleUnknown(system, count) {
  await load(10, 5, () => payAndWait(system));
  await call('POST', `${system.sandboxAdmin}/admin/script`, {
    body: { kind: 'payment', modes: Array.from({ length: count }, () => 'commit_then_reset') },
  });
  await load(count, 5, () => payAndWait(system));
  const pool = new Pool({ connectionString: system.databaseUrl, max: 1 });
  const { rows } = await pool.query(
    `select extract(epoch from settled_at - unknown_since)::float8 * 1000 as ms
     from operations where unknown_since is not null`,
  );
  await pool.end();
  if (rows.length !== count) throw new Error(`${rows.length} of ${count} answers were lost`);
  const times = rows.map(({ ms }) => ms);
  return [row('settle_unknown', percentile(times, 0.5), 1_500, 'ms')];
}

/** The path with many stored operations against the path with few. */
export async function growth(system, count, { few, many }) {
  const pay = () => payAndWait(system);
  const turn = async () => {
    await load(count, AT_ONCE, pay);
    return (await load(count, AT_ONCE, pay)).perSecond;
  };
  await pay();
  await fill(system, few);
  const withFew = await turn();
  await fill(system, many - few);
  return [row('growth', await turn(), withFew, 'operations/s')];
}

/** What API and worker hold after many operations, once what can be collected is, against what they held after the first of them. */
export async function memory(system, { first, more }) {
  const pay = () => payAndWait(system);
  await load(first, AT_ONCE, pay);
  const before = await liveMegabytes(system);
  await load(more, AT_ONCE, pay);
  const after = await liveMegabytes(system);
  return Object.keys(before).map((name) => row(`memory_${name}`, after[name], before[name], 'MB'));
}

function row(name, ours, anchor, unit) {
  const round = (value) => Number(value.toPrecision(4));
  return { name, ours: round(ours), anchor: round(anchor), ratio: round(ours / anchor), unit };
}

/** One decision of the shipped policy on the busiest kind; the anchor is what it may take. */
export async function policyDecision(count) {
  const { decide } = await import('../dist/domain/policy.js');
  const { readPolicy } = await import('../dist/policy/keep-policy.js');
  const { readConfig } = await import('../dist/config.js');
  const policy = readPolicy(readConfig({}));
  const who = { account: 'acct_a', agent: 'acct_a.agent', owner: 'acct_a.agent' };
  const facts = (n) => ({
    ...who,
    kind: 'payment',
    money: { currency: 'USD', minor: String(n), digits: 2 },
    destination: `cus_${n}`,
    possibleDuplicate: false,
  });
  const turn = (of) => {
    const from = performance.now();
    for (let n = 1; n <= of; n++) decide(policy, facts(n));
    return (performance.now() - from) / of;
  };
  turn(count);
  return [row('policy_decision', turn(count), 0.1, 'ms')];
}

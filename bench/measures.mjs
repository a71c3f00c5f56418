// What is measured, each against an anchor in the same run on the same machine: only the ratios mean anything.
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { Pool } from 'pg';
import { approveToDispatch } from './approve-to-dispatch.mjs';
import { auditVerify } from './audit-verify.mjs';
import { load, percentile } from './load.mjs';
import { call, stopNode } from './system.mjs';

const AT_ONCE = 20;

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

/** The whole path of a low-risk payment against a bare workflow with one no-op activity, in turns, the better turn of each. */
export async function path(system, count) {
  const connection = await Connection.connect({ address: system.temporalAddress });
  const client = new Client({ connection });
  const anchor = await system.startAnchor('worker');
  const bare = () =>
    client.workflow.execute('bare', { taskQueue: 'anchor', workflowId: randomUUID() });
  const turns = { ours: [], anchor: [] };
  await load(AT_ONCE, AT_ONCE, bare);
  await load(AT_ONCE, AT_ONCE, () => payAndWait(system));
  for (let turn = 0; turn < 2; turn++) {
    turns.anchor.push(await load(count, AT_ONCE, bare));
    turns.ours.push(await load(count, AT_ONCE, () => payAndWait(system)));
  }
  await stopNode(anchor);
  await connection.close();
  const best = (list) => ({
    perSecond: Math.max(...list.map((one) => one.perSecond)),
    p50: Math.min(...list.map((one) => one.p50)),
  });
  const [ours, theirs] = [best(turns.ours), best(turns.anchor)];
  return [
    row('path_throughput', ours.perSecond, theirs.perSecond, 'operations/s'),
    row('path_p50', ours.p50, theirs.p50, 'ms'),
  ];
}

/** Submit to 202 against Express with one insert, and a repeat of a settled key against Express with one indexed select. */
export async function requests(system, count) {
  const anchor = await system.startAnchor('http');
  const url = anchor.said;
  const insert = () => call('POST', `${url}/insert`, fresh(system));
  const submit = () => call('POST', submitUrl(system), fresh(system));
  const key = randomUUID();
  await settled(system, key);
  await call('POST', `${url}/insert`, fresh(system, key));
  const replay = () => call('POST', submitUrl(system), fresh(system, key));
  const select = () => call('POST', `${url}/select`, fresh(system, key));
  for (const warm of [insert, select, replay, submit]) await load(300, AT_ONCE, warm);
  const rates = { select: 0, replay: 0, insert: 0, submit: 0 };
  // In turns, the better turn of each: what else the machine does then weighs on both alike.
  for (let turn = 0; turn < 3; turn++) {
    for (const [name, work] of Object.entries({ select, replay, insert, submit })) {
      rates[name] = Math.max(rates[name], (await load(count, AT_ONCE, work)).perSecond);
    }
  }
  await stopNode(anchor);
  return [
    row('submit_rps', rates.submit, rates.insert, 'requests/s'),
    row('replay_rps', rates.replay, rates.select, 'requests/s'),
  ];
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
export async function growth(system, count, stored) {
  const few = await load(count, AT_ONCE, () => payAndWait(system));
  const pool = new Pool({ connectionString: system.databaseUrl, max: 2 });
  await fill(pool, stored);
  await pool.end();
  const many = await load(count, AT_ONCE, () => payAndWait(system));
  return [row('growth', many.perSecond, few.perSecond, 'operations/s')];
}

/** Copies of one settled operation under fresh ids (but for generated columns): rows as they are, without going through the path a hundred thousand times. */
async function fill(pool, count) {
  await pool.query(
    `create temp table sample as select * from operations where status = 'SUCCEEDED' limit 1`,
  );
  const { rows } = await pool.query(
    `select string_agg(quote_ident(column_name), ', ') as columns from information_schema.columns
     where table_schema = current_schema and table_name = 'operations' and is_generated = 'NEVER'`,
  );
  const [{ columns }] = rows;
  await pool.query(
    `insert into operations (${columns})
     select ${columns} from (
       select (jsonb_populate_record(null::operations, to_jsonb(s) || jsonb_build_object(
         'operation_id', 'op_fill_' || n, 'idempotency_key', 'fill-' || n, 'provider_token', 'fill-' || n,
         'provider_reference', 'pay_fill_' || n))).*
       from sample s, generate_series(1, $1) n) filled`,
    [count],
  );
  await pool.query(
    `insert into idempotency_keys
     select account_id, idempotency_key, operation_id, kind_version, fingerprint, agent_id, created_at
     from operations where operation_id like 'op_fill_%'`,
  );
  await pool.query(
    `insert into business_keys
     select account_id, kind, idempotency_key, operation_id from operations where operation_id like 'op_fill_%'`,
  );
  await pool.query('analyze');
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

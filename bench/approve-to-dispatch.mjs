// From a person's yes to the first intent, against a bare signal that starts an activity. Both begin when the caller sends and end where the
// work begins, by the clock of this machine. One at a time, in turns: people don't click in crowds.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { percentile } from './load.mjs';
import { call, stopNode } from './system.mjs';

/** Runs that are left alone for so long wait for their signal. */
const SETTLING_MS = 2_000;

/** Rarely: whoever asks takes time from what is measured. */
const LOOK_EVERY_MS = 250;

/** Answers the p50 of both in milliseconds. `submit` claims a payment that is held, and answers it. */
export async function approveToDispatch(system, count, submit) {
  const anchor = await system.startAnchor('worker');
  const connection = await Connection.connect({ address: system.temporalAddress });
  const client = new Client({ connection });
  const pairs = [];
  for (let n = 0; n < count; n++) {
    const options = { taskQueue: 'anchor', workflowId: randomUUID() };
    const run = await client.workflow.start('signaled', options);
    pairs.push({ operation: await submit(), run });
  }
  await pause(SETTLING_MS);
  const times = { ours: [], anchor: [] };
  for (const { operation, run } of pairs) {
    times.ours.push(await untilIntent(system, operation));
    times.anchor.push(await untilActivity(run));
  }
  await stopNode(anchor);
  await connection.close();
  return { ours: percentile(times.ours, 0.5), anchor: percentile(times.anchor, 0.5) };
}

async function untilIntent(system, { operation_id: id, approval, fingerprint }) {
  const from = Date.now();
  await call('POST', `${system.base}/approvals/${approval.approval_id}/approve`, {
    headers: { authorization: `Bearer ${system.approverToken}` },
    body: { fingerprint },
  });
  for (;;) {
    await pause(LOOK_EVERY_MS);
    const { attempts } = await call('GET', `${system.base}/agent/operations/${id}`, {
      headers: { authorization: `Bearer ${system.token}` },
    });
    if (attempts.length > 0) return Date.parse(attempts[0].started_at) - from;
  }
}

async function untilActivity(run) {
  const from = Date.now();
  await run.signal('go');
  return (await run.result()) - from;
}

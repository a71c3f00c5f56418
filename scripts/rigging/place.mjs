// Where the copy is that the rig works on: read from the environment by the product's own reader.
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { projectFolder } from '../setup/files.mjs';

/** This rig has no such control; the caller skips what needs it. */
export class NotOffered extends Error {}

/** The running copy: its configuration, its files, and how it is asked. */
export async function place(env = process.env) {
  // Relative paths in the configuration mean the project, as for `npm start`.
  process.chdir(projectFolder);
  const { readConfig } = await import('../../dist/config.js');
  const { askSupervisor } = await import('../../dist/rig/ask-supervisor.js');
  const places = await import('../../dist/rig/places.js');
  const config = readConfig(env);
  const { home } = config;
  return {
    config,
    base: `http://127.0.0.1:${config.ports.api}`,
    ask: (request) => askSupervisor(home, request),
    points: (point) => places.pointPath(home, point),
    pointsFolder: places.pointPath(home, ''),
    partition: (instance) => places.partitionPath(home, instance),
    parted: (instance) => places.partedPath(home, instance),
    paused: places.pausedPath(home),
    sql: (text, values) => query(config.postgres.url, text, values),
  };
}

async function query(connectionString, text, values) {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

/** Resolves with the first truthy answer; throws after `withinMs`. */
export async function until(what, look, withinMs = 60_000) {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (performance.now() > deadline) throw new Error(`not within ${withinMs / 1_000} s: ${what}`);
    await sleep(50);
  }
}

/** Resolves when the API answers that all it needs is there. */
export async function untilServing(base) {
  await until('the API is ready', async () => {
    const answer = await fetch(`${base}/readyz`).catch(() => undefined);
    return answer?.ok && (await answer.json()).status === 'ok';
  });
}

// `npm run bench`: ratios in one run. `--json` prints one JSON object a line; `--quick` takes fewer operations; a name runs that alone.
import { parseArgs } from 'node:util';
import {
  approval,
  audit,
  growth,
  memory,
  path,
  policyDecision,
  requests,
  settleUnknown,
} from './measures.mjs';
import { build } from '../scripts/build.mjs';
import { REPORTS_HEAP } from './live-memory.mjs';
import { startDoor, startSystem } from './system.mjs';

const { values, positionals } = parseArgs({
  options: { json: { type: 'boolean' }, quick: { type: 'boolean' } },
  allowPositionals: true,
});
const scale = values.quick ? 0.2 : 1;
const of = (count) => Math.max(20, Math.round(count * scale));

const measures = {
  policy: () => policyDecision(of(20_000)),
  path: (system) => path(system, of(150)),
  requests: (system) => requests(system, of(1_500)),
  approval: (system) => approval(system, of(100)),
  settle: (system) => settleUnknown(system, of(50)),
  growth: (system) => growth(system, of(250), { few: 1_000, many: of(100_000) }),
  audit: () => audit(of(100_000)),
  memory: (system) => memory(system, { first: of(2_000), more: of(10_000) }),
};

// A decision takes microseconds and memory takes minutes: they are measured where somebody asks for them by name.
const ASKED_FOR = ['policy', 'memory'];
const usual = Object.keys(measures).filter((name) => !ASKED_FOR.includes(name));
const wanted = positionals.length > 0 ? positionals : usual;
for (const name of wanted) {
  // A system of its own each: what one measure leaves behind must not slow the next.
  const system = await startFor(name);
  try {
    for (const row of await measures[name](system)) print(row);
  } finally {
    await system.stop();
  }
}

/** Deciding and verifying need no servers, only what is built. */
async function startFor(name) {
  if (name === 'requests') return startDoor();
  if (name === 'memory') return startSystem(REPORTS_HEAP);
  if (name !== 'policy' && name !== 'audit') return startSystem();
  await build();
  return { stop: () => {} };
}

function print({ name, ours, anchor, ratio, unit }) {
  const line = `${name.padEnd(16)} ${String(ours).padStart(8)} against ${String(anchor).padStart(8)} ${unit}: ${ratio}`;
  process.stdout.write(
    `${values.json ? JSON.stringify({ name, ours, anchor, ratio, unit }) : line}\n`,
  );
}

// `npm run bench`: ratios in one run. `--json` prints one JSON object a line; `--quick` takes fewer operations; a name runs that alone.
import { parseArgs } from 'node:util';
import { audit, growth, path, requests, settleUnknown } from './measures.mjs';
import { startDoor, startSystem } from './system.mjs';

const { values, positionals } = parseArgs({
  options: { json: { type: 'boolean' }, quick: { type: 'boolean' } },
  allowPositionals: true,
});
const scale = values.quick ? 0.2 : 1;
const of = (count) => Math.max(20, Math.round(count * scale));

const measures = {
  path: (system) => path(system, of(250)),
  requests: (system) => requests(system, of(2_000)),
  settle: (system) => settleUnknown(system, of(50)),
  growth: (system) => growth(system, of(250), values.quick ? 10_000 : 100_000),
  audit: () => audit(of(100_000)),
};

/** What a measure needs, if not the whole system. */
const starts = { requests: startDoor, audit: async () => ({ stop: async () => {} }) };

const wanted = positionals.length > 0 ? positionals : Object.keys(measures);
for (const name of wanted) {
  // A system of its own each: what one measure leaves behind must not slow the next.
  const system = await (starts[name] ?? startSystem)();
  try {
    for (const row of await measures[name](system)) print(row);
  } finally {
    await system.stop();
  }
}

function print({ name, ours, anchor, ratio, unit }) {
  const line = `${name.padEnd(16)} ${String(ours).padStart(8)} against ${String(anchor).padStart(8)} ${unit}: ${ratio}`;
  process.stdout.write(
    `${values.json ? JSON.stringify({ name, ours, anchor, ratio, unit }) : line}\n`,
  );
}

// `npm run prove`: agents that retry, machines that die, a provider that lies; then every effect is counted.
// `--operations N` (default 1200), `--seed S` runs the same scripts and faults again, `--json` ends with one line of counts.
import { parseArgs } from 'node:util';
import { randomInt } from 'node:crypto';
import { build } from './build.mjs';
import { prove } from './prove/prove.mjs';
import { failWith, setUp } from './setup.mjs';

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '1200' },
    agents: { type: 'string', default: '16' },
    seed: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const say = (line) => process.stdout.write(`${line}\n`);

try {
  await setUp();
  await build();
  const seed = values.seed ?? String(randomInt(1_000_000_000));
  say(`seed ${seed}`);
  const counts = await prove(
    { seed, operations: Number(values.operations), agents: Number(values.agents) },
    say,
  );
  const { violations, ...numbers } = counts;
  for (const line of values.json ? [JSON.stringify(numbers)] : tableOf(numbers)) say(line);
  process.exitCode = violations === 0 ? 0 : 1;
} catch (error) {
  failWith(error);
}

/** Names as in the JSON form, a number a line. */
function tableOf(numbers) {
  return Object.entries(numbers).map(([name, value]) => {
    const label = name.replace(/_ms$/, ' (ms)').replaceAll('_', ' ');
    return `${label.padEnd(18)}${value.toLocaleString('en').padStart(8)}`;
  });
}

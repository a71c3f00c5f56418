// The short form of `npm run prove`: agents that retry, machines that die, a provider that lies. One seed here, so that a failure speaks of
// a change and not of luck; `npm run prove` takes a new one each time and prints it.
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../scripts/prove.mjs', import.meta.url));
const OPERATIONS = 110;
const SEED = '3';
const PATIENCE_MS = 300_000;

it(
  'a hundred operations under fire: no second effect, nothing lost, no wrong end',
  async () => {
    const args = [SCRIPT, '--json', '--seed', SEED, '--operations', String(OPERATIONS)];
    // Servers of its own, not those of this run.
    const { DATABASE_URL: _, TEMPORAL_ADDRESS: __, ...env } = process.env;
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGTERM'));
    const output = await text(child.stdout);
    const counts: unknown = JSON.parse(output.trim().split('\n').at(-1) ?? '');
    expect(counts, output).toMatchObject({
      operations: OPERATIONS,
      duplicate_effects: 0,
      lost: 0,
      wrong_final: 0,
    });
    expect(output).toMatch(/^seed \d+$/m);
  },
  PATIENCE_MS,
);

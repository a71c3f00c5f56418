// The machines' side: one fault after another while the agents work, in an order that the seed gives.
import { setTimeout as sleep } from 'node:timers/promises';
import { CONTROLS } from '../rigging/controls.mjs';
import { chance } from './random.mjs';

const KILLS = [
  'before_claim',
  'after_record_insert',
  'before_start',
  'after_start',
  'before_intent',
  'before_provider_call',
  'after_provider_commit',
  'after_outcome_commit',
  'before_lookup',
  'after_lookup',
  'before_event',
];
const THROWS = ['before_provider_call', 'after_provider_commit', 'after_lookup'];

/** Every fault there is, each as often as it deserves. `random` is the seed's. */
const FAULTS = [
  ...KILLS.map((at) => [`kill at ${at}`, (rig) => rig('process', 'kill_at', { at })]),
  ...THROWS.map((at) => [`throw at ${at}`, (rig) => rig('process', 'throw_once', { at })]),
  ['kill the worker', (rig) => rig.ask({ do: 'kill', names: ['worker'] })],
  ['kill the API', (rig) => rig.ask({ do: 'kill', names: ['api'] })],
  ['kill both', (rig) => rig.ask({ do: 'kill', names: ['api', 'worker'] })],
  ['kill the second API', async (_, { second }) => second.kill()],
  ['kill Temporal', (rig) => rig.ask({ do: 'kill', names: ['temporal'] })],
  ['crash Postgres', (rig, _, random) => outage(rig, random.between(200, 3_000))],
  [
    'Postgres away',
    async (rig, _, random) => {
      await rig('db', 'down');
      await sleep(random.between(200, 2_500));
      await rig('db', 'up');
    },
  ],
  [
    'Postgres away at an answer',
    (rig, _, random) =>
      rig('db', 'down_at', { at: 'after_provider_commit', for_ms: random.between(200, 7_000) }),
  ],
  ['answer of a claim lost', (rig) => rig('db', 'drop_connection_at', { at: 'commit_of_claim' })],
  [
    'storing refused',
    (rig, _, random) =>
      rig('db', 'serialization_failure', { at: 'store_result', times: random.between(1, 7) }),
  ],
  [
    'second API parted',
    async (rig, _, random) => {
      await rig('db', 'partition', { instance: 2 });
      await sleep(random.between(500, 3_000));
      await rig('db', 'heal');
    },
  ],
  ['engine forgets', (rig) => rig('engine', 'purge_closed_runs')],
  [
    'dispatch stands still',
    async (rig, _, random) => {
      await rig('engine', 'pause_dispatch');
      await sleep(random.between(200, 2_000));
      await rig('engine', 'resume_dispatch');
    },
  ],
  [
    'worker paused before a call',
    async (rig, _, random) => {
      await rig('process', 'pause_worker', { at: 'before_provider_call' });
      await sleep(random.between(500, 7_000));
      await rig('process', 'resume_worker');
    },
  ],
];

/** Beyond this backlog faults wait for it to shrink, and no longer than this. */
const MOST_OPEN = 40;
const BREATH_MS = 20_000;
const OPEN = `select count(*)::int as open from operations
  where settled_at is null and status <> 'NEEDS_REVIEW'`;

const outage = (rig, for_ms) => rig.ask({ do: 'outage', names: ['postgres'], for_ms });

/** Faults until `done`, a pause between two. Answers what happened, as `{name, begun, ended}`. */
export async function inflict(system, seed, done) {
  const random = chance(seed, 'faults');
  const suffered = [];
  let deck = [];
  while (!done()) {
    // Every fault comes before any comes again.
    if (deck.length === 0) deck = random.shuffled(FAULTS);
    const [name, fault] = deck.pop();
    suffered.push(await inflictOne(system, name, fault, random));
    await sleep(random.between(1_000, 3_000));
    await untilBreathing(system, done);
  }
  return suffered;
}

/** Machines that die faster than work gets done only pile it up, and every fault would meet the same point. */
async function untilBreathing({ pool }, done) {
  const deadline = performance.now() + BREATH_MS;
  while (!done() && performance.now() < deadline) {
    const open = await pool.query(OPEN).catch(() => undefined);
    if (open && open.rows[0].open < MOST_OPEN) return;
    await sleep(500);
  }
}

async function inflictOne(system, name, fault, random) {
  const rig = (control, what, more) => CONTROLS[control][what](system.rig, more ?? {});
  rig.ask = system.rig.ask;
  const one = { name, begun: Date.now() };
  try {
    await fault(rig, system, random);
  } catch (error) {
    // Two faults may meet: nothing can be asked of a database that the last one took away.
    one.failed = error.message;
  }
  system.second.restart();
  return { ...one, ended: Date.now() };
}

/** Everything back and well, whatever is still under way. */
export async function healEverything(system) {
  for (let tries = 1; ; tries++) {
    try {
      await CONTROLS.rig.restore(system.rig);
      system.second.restart();
      await system.tellProvider('/admin/reset', { what: 'faults' });
      return;
    } catch (error) {
      if (tries === 5) throw error;
      await sleep(2_000);
    }
  }
}

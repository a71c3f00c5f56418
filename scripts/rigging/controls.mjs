// What the rig can do, by the names of its control messages. A control returns when it is done, an armed one when it is armed.
import { clock } from './clock.mjs';
import { database } from './database.mjs';
import { engine } from './engine.mjs';
import { processes } from './processes.mjs';
import { disarm } from './points.mjs';
import { untilServing } from './place.mjs';

export const CONTROLS = {
  process: processes,
  db: database,
  engine,
  clock,
  rig: { restore },
};

/** Everything back: nothing armed, all processes running and ready, nothing parted, the clock right. */
async function restore(place) {
  disarm(place);
  processes.resume_worker(place);
  await place.ask({ do: 'stop_spare_worker' });
  await place.ask({ do: 'start', names: ['postgres', 'temporal', 'sandbox', 'worker', 'api'] });
  await database.heal(place);
  await database.forget_failures(place);
  await clock.reset(place);
  await untilServing(place.base);
}

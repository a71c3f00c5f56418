// Ends, pauses and returns of our own processes.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { arm, armed } from './points.mjs';
import { until, untilServing } from './place.mjs';

/** The service: what a deployment replaces. Postgres, Temporal and the provider are others' machines. */
const SERVICE = ['api', 'worker'];

/** How long a start waits for the death that was armed before it: the request that leads there is under way. */
const DEATH_WITHIN_MS = 10_000;

export const processes = {
  stop: (place) => place.ask({ do: 'stop', names: SERVICE }),

  async start(place) {
    // What was armed must have happened, or it would hit the processes that are started now.
    await until(
      'an armed point is reached',
      () => armed(place).length === 0,
      DEATH_WITHIN_MS,
    ).catch(() => undefined);
    await place.ask({ do: 'start', names: SERVICE.toReversed() });
    await untilServing(place.base);
  },

  async restart(place) {
    await place.ask({ do: 'stop', names: SERVICE });
    await processes.start(place);
  },

  kill_at: (place, { at }) => arm(place, at, { do: 'kill' }),

  throw_once: (place, { at }) => arm(place, at, { do: 'throw' }),

  /** With a second worker beside it, so that somebody is there to take over. */
  async pause_worker(place, { at }) {
    rmSync(place.paused, { force: true });
    await arm(place, at, { do: 'pause' });
  },

  /** Until the operation that the paused worker had begun is in other hands. */
  async wait_takeover(place) {
    await until('a worker has paused', () => existsSync(place.paused));
    const paused = `${readFileSync(place.paused, 'utf8')}@%`;
    await place.ask({ do: 'start_spare_worker' });
    await until(
      'another worker has taken over',
      async () =>
        (
          await place.sql(
            `select 1 from attempts a join operations o using (operation_id)
             where a.worker like $1 and a.ended_at is null and o.status not in ('PENDING', 'IN_PROGRESS')
             union select 1 from attempts a join attempts b using (operation_id)
             where a.worker like $1 and b.number > a.number and b.worker not like $1`,
            [paused],
          )
        ).length > 0,
      120_000,
    );
  },

  resume_worker(place) {
    if (!existsSync(place.paused)) return;
    try {
      process.kill(Number(readFileSync(place.paused, 'utf8')), 'SIGCONT');
    } catch (error) {
      // It was ended meanwhile.
      if (error.code !== 'ESRCH') throw error;
    }
    rmSync(place.paused, { force: true });
  },
};

// Postgres going away, coming back, being cut off from one API, and refusing what it is asked.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { arm, armLostCommit } from './points.mjs';
import { NotOffered, until, untilServing } from './place.mjs';

const INSTANCES = [1, 2];
const CUT_WITHIN_MS = 3_000;

/** Sequences don't roll back, so what is counted here stays counted. */
const FAIL_TO_STORE = `
  create sequence if not exists rig_failures;
  create or replace function rig_fail() returns trigger language plpgsql as $$
    begin
      if nextval('rig_failures') <= TIMES then
        raise exception 'the rig asked for it' using errcode = 'serialization_failure';
      end if;
      return new;
    end $$;
  select setval('rig_failures', 1, false);
  create or replace trigger rig_fail before update of outcome on attempts
    for each row execute function rig_fail()`;

const FORGET = `
  drop trigger if exists rig_fail on attempts;
  drop function if exists rig_fail();
  drop sequence if exists rig_failures`;

export const database = {
  down: (place) => place.ask({ do: 'stop', names: ['postgres'] }),

  async up(place) {
    await place.ask({ do: 'start', names: ['postgres'] });
    await untilServing(place.base);
  },

  down_at: (place, { at, for_ms }) => arm(place, at, { do: 'database_down', for_ms }),

  async partition(place, { instance }) {
    if (!INSTANCES.includes(instance)) throw new NotOffered(`instance ${instance}`);
    const file = place.partition(instance);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, '');
    await until(
      'the API is cut off (was it started with HOLDFAST_RIG=1 and this home?)',
      () => existsSync(place.parted(instance)),
      CUT_WITHIN_MS,
    );
  },

  async heal(place) {
    for (const instance of INSTANCES) {
      const wasParted = existsSync(place.partition(instance));
      rmSync(place.partition(instance), { force: true });
      if (wasParted) {
        await until('the API is back', () => !existsSync(place.parted(instance)), CUT_WITHIN_MS);
      }
    }
    await untilServing(place.base);
  },

  drop_connection_at: (place, { at }) => {
    if (at !== 'commit_of_claim') throw new NotOffered(`a connection that drops at ${at}`);
    armLostCommit(place);
  },

  async serialization_failure(place, { times = 1, at }) {
    if (at !== 'store_result') throw new NotOffered(`a serialization failure at ${at}`);
    await place.sql(FAIL_TO_STORE.replace('TIMES', `${Math.trunc(times)}`));
  },

  forget_failures: (place) => place.sql(FORGET),
};

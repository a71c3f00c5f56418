// The database's clock, which all rules on time read. What becomes due by it is found by the sweep.
import { NotOffered } from './place.mjs';

export const clock = {
  async set(place, { to }) {
    await place.sql('update installation set clock_offset = $1::timestamptz - clock_timestamp()', [
      to,
    ]);
    await wakeEverybody(place);
  },

  async advance(place, { by }) {
    if (typeof by !== 'string') throw new NotOffered('an advance without a duration');
    await place.sql('update installation set clock_offset = clock_offset + $1::interval', [by]);
    await wakeEverybody(place);
  },

  async reset(place) {
    await place.sql(
      `update installation set clock_offset = interval '0' where clock_offset <> '0'`,
    );
    await wakeEverybody(place);
  },
};

/** Set back, the clock would leave what waits for its next look in the far future. */
async function wakeEverybody(place) {
  await place.sql(
    `update operations set next_sweep_at = holdfast_now()
     where status in ('PENDING', 'AWAITING_APPROVAL', 'IN_PROGRESS', 'UNKNOWN', 'RECONCILING')`,
  );
  await place.sql(
    'update outbox_messages set next_delivery_at = holdfast_now() where next_delivery_at > holdfast_now()',
  );
}

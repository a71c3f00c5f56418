// Composition root of the API's process.
import { startApi, type ApiFaults } from '../api/start-api.ts';
import { apiConfigOf, type Config } from '../config.ts';
import { watchCrashPoints } from '../rig/crash-points.ts';
import { proxyDatabase } from '../rig/database-proxy.ts';
import { before, faultyStarter } from '../rig/faulty-parts.ts';
import { createPlaces } from '../rig/places.ts';
import { runProcess } from './run-process.ts';

await runProcess('api', async (config, logger) =>
  config.rig
    ? startApi(apiConfigOf(await throughProxy(config)), logger, faultsOf(config))
    : startApi(apiConfigOf(config), logger),
);

function faultsOf({ home }: Config): ApiFaults {
  const points = watchCrashPoints(home);
  return {
    newId: (newId) => before(() => points.reach('before_claim'), newId),
    starter: (starter) => faultyStarter(starter, points),
    startSoon: (startSoon) => ({
      ...startSoon,
      // Called right after the claim is committed, and before anything else is done about it.
      begin: before(
        () => points.reach('after_record_insert'),
        (operation) => startSoon.begin(operation),
      ),
    }),
    readEvent: (read) => before(() => points.reach('before_event'), read),
  };
}

async function throughProxy(config: Config): Promise<Config> {
  const { home, postgres } = config;
  createPlaces(home);
  // The supervisor's own API has a channel to it, one that was started beside it has none.
  const instance = process.send === undefined ? 2 : 1;
  const points = watchCrashPoints(home);
  const url = await proxyDatabase({ home, instance, url: postgres.url, points });
  return { ...config, postgres: { ...postgres, url } };
}

// The rig's way of taking Postgres from one API: a real claim over a connection that is cut at the named moment.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { watchCrashPoints } from '../../src/rig/crash-points.ts';
import { proxyDatabase } from '../../src/rig/database-proxy.ts';
import { createPlaces, partedPath, partitionPath, pointPath } from '../../src/rig/places.ts';
import { claim } from '../../src/store/claims.store.ts';
import { createPool, type Pool } from '../../src/store/pool.ts';
import { claimOf, openRegister, type Register } from '../support/register.ts';
import { until } from '../support/until.ts';

const home = mkdtempSync(join(tmpdir(), 'holdfast-rig-'));
let register: Register;
let pool: Pool;

beforeAll(async () => {
  register = await openRegister();
  createPlaces(home);
  const points = watchCrashPoints(home);
  const url = await proxyDatabase({ home, instance: 2, url: register.url, points });
  pool = createPool(url, { max: 2, onIdleError: () => {} });
});
afterAll(async () => {
  await pool.end();
  await register.close();
  rmSync(home, { recursive: true, force: true });
});

const stored = (operationId: string) =>
  register.count('select count(*)::int from operations where operation_id = $1', [operationId]);

// Twice: the second claim of a connection sends a name where the first sent the statement.
it.each(['first', 'second'])('loses the answer to the %s claim, not the claim', async () => {
  await claim(pool, claimOf());
  writeFileSync(pointPath(home, 'commit_of_claim'), '{"do":"drop"}');
  const wanted = claimOf();
  await expect(claim(pool, wanted)).rejects.toThrow('Connection terminated');
  expect(await stored(wanted.operation.operationId)).toBe(1);
  expect(existsSync(pointPath(home, 'commit_of_claim'))).toBe(false);
});

it('keeps an API from Postgres for as long as it is parted', async () => {
  await pool.query('select 1');
  writeFileSync(partitionPath(home, 2), '');
  await until('it is cut', async () => existsSync(partedPath(home, 2)));
  await expect(pool.query('select 1')).rejects.toThrow();
  rmSync(partitionPath(home, 2));
  await until('it is healed', async () => !existsSync(partedPath(home, 2)));
  expect((await pool.query('select 1')).rowCount).toBe(1);
});
